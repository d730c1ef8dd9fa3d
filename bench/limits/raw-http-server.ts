import { createServer } from 'node:http'

// The least that node:http can do: one fixed body of as many bytes as asked for, and nothing else.

const body = Buffer.alloc(Number(process.argv[2]), 'x')
const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length }
const server = createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
process.once('disconnect', () => process.exit())
