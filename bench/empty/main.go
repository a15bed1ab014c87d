// Command empty does nothing: the floor under every Go program.
package main

func main() {}
