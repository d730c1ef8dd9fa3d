import { connectWorker } from '../../src/platform/processes/index.ts'

// A worker of a supervisor without a server. It answers each line with its process id, and takes a lock first if the line is `lock NAME`.
const worker = await connectWorker()
let connections = 0
const { port } = await worker.listen({ host: '127.0.0.1', port: 0 }, (socket) => {
  connections += 1
  socket.once('close', () => {
    connections -= 1
  })
  socket.on('error', () => {})
  socket.on('data', (bytes) => void respond(bytes))
  const respond = async (bytes: Buffer) => {
    const [command = '', name = ''] = bytes.toString('utf8').trim().split(' ')
    if (command === 'lock') await worker.locks.lock(name, { timeoutMs: 60_000 })
    socket.write(`${process.pid}\n`)
  }
  socket.resume()
})
worker.reportConnections(() => connections)
worker.ready({ port })
await worker.stopped
process.exit()
