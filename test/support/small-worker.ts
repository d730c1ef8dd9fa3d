import { connectWorker } from '../../src/processes/index.ts'

// A worker of a supervisor without a server. It answers each line with its process id, and takes a lock first if the line is `lock NAME`.
const worker = await connectWorker()
let connections = 0
let toShed = 0
const { port } = await worker.listen({ host: '127.0.0.1', port: 0 }, (socket) => {
  connections += 1
  socket.once('close', () => {
    connections -= 1
  })
  socket.on('error', () => {})
  socket.on('data', (bytes) => void respond(bytes))
  const respond = async (bytes: Buffer) => {
    const [command = '', name = ''] = bytes.toString('utf8').trim().split(' ')
    const isKept = toShed === 0
    if (!isKept) toShed -= 1
    if (command === 'lock') await worker.locks.lock(name, { timeoutMs: 60_000 })
    const text = `${process.pid}\n`
    if (isKept) socket.write(text)
    else socket.end(text)
  }
  socket.resume()
})
worker.onShed((count) => {
  toShed = count
})
worker.reportLoad(() => connections)
worker.ready({ port })
await Promise.race([worker.stopped, worker.retired])
process.exit()
