import { parentPort } from 'node:worker_threads'
import { ObjectReader, type ObjectRequest } from './object-reader.ts'

const reader = new ObjectReader()

parentPort?.on('message', (request: ObjectRequest) => {
  const reply = reader.read(request)
  parentPort?.postMessage(reply, [reply.bytes.buffer])
})
