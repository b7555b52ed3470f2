module quoin.dev/client

go 1.26.0
