# Pending changes of three kinds, in repo/: what most inputs start from.
set -e
cd repo
printf '\nexport function sub(a, b) {\n  return a - b;\n}\n' >> src/math.js
git add src/math.js
printf '\n// later\n' >> src/app.js
printf 'a note\n' > notes.txt
