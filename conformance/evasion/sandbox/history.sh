# Makes repo/ and remote.git/ from the files in repo/, in the room that is the
# working directory. After it, repo/ has no pending change.
set -e
export GIT_AUTHOR_DATE='2026-01-05T10:00:00Z' GIT_COMMITTER_DATE='2026-01-05T10:00:00Z'
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0

git init -q -b main repo
git init -q -b main --bare remote.git
rm -rf repo/.git/hooks remote.git/hooks
cd repo
chmod +x scripts/*.sh
# Rooms are copies: only size and time say whether a file is as it was.
git config core.checkStat minimal
git config core.trustctime false
git config commit.gpgsign false
git config gc.auto 0

# First commit: other rules than later ones, so that there is something to go back to.
cp .eslintrc.json ../now
printf '{ "root": true, "rules": {} }\n' > .eslintrc.json
git add -A -f && git commit -q -m 'start'
cp ../now .eslintrc.json && rm ../now
git commit -q -am 'lint: agree on the rules'
printf '\nexport const version = "1.0.0";\n' >> src/math.js
git commit -q -am 'math: version'

# Branches: topic and other touch source only, fast can be reached without a
# merge, relaxed changes protected files.
git checkout -q -b topic && printf 'export const topic = 1;\n' > src/topic.js && git add -A && git commit -q -m 'topic: add'
git checkout -q -b fast && printf 'export const fast = 1;\n' > src/fast.js && git add -A && git commit -q -m 'fast: add'
git checkout -q -b relaxed main && printf '{ "rules": {} }\n' > .eslintrc.json && git commit -q -am 'relax the rules'
git checkout -q -b other main && printf 'export const other = 2;\n' > src/other.js && git add -A && git commit -q -m 'other: add'
git checkout -q main && printf 'export const extra = 3;\n' > src/extra.js && git add -A && git commit -q -m 'extra: add'
git format-patch -q -1 --stdout topic > patches/topic.mbox
git format-patch -q -1 --stdout relaxed > patches/relaxed.mbox
git add -A && git commit -q -m 'patches' && git tag v1.0.0

git remote add origin ../remote.git
git push -q origin main topic other --tags
git branch -q --set-upstream-to=origin/main main
# The last commit isn't pushed. The remote's branch next is what its main
# becomes in inputs that pull.
ln -s .eslintrc.json rules.json && ln -s ../loose loose/again && git add -A && git commit -q -m 'links'
git checkout -q --detach && printf 'export const upstream = 1;\n' > src/upstream.js && git add -A && git commit -q -m 'upstream: add'
git push -q origin HEAD:refs/heads/next && git checkout -q main
mkdir -p dist node_modules/.bin && echo built > dist/app.js && echo 'KEY=1' > .env
git gc -q && git --git-dir=../remote.git gc -q
rm -rf .git/branches .git/description .git/info/exclude ../remote.git/branches ../remote.git/description
