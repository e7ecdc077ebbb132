"""The commands, one a module: parse, call one function, print. They import late, so help is quick."""
