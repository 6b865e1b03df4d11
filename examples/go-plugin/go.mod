module example.com/name-pattern

go 1.21
