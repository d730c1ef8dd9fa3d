import { createServer } from 'node:http'

// A minimal node:http server: one fixed body of the requested length.

const body = Buffer.alloc(Number(process.argv[2]), 'x')
const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length }
const server = createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
process.once('disconnect', () => process.exit())
