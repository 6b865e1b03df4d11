module divvy.example/goroutines

go 1.26
