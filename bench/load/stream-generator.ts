import { runPlanFromParent } from './child-process.ts'
import { Connection } from './connection.ts'
import { LongBodies, PIECE_BYTES } from './stream-body.ts'
import type { Stream, StreamPlan, StreamResult } from './stream-plan.ts'

// Child process: streams large bodies to a server, or reads large responses from it.

async function runPlan(plan: StreamPlan, onMeasuring: () => void): Promise<StreamResult> {
  const bodies = new LongBodies()
  const opened: { stream: Stream; connection: Connection }[] = []
  for (const stream of plan.streams) {
    opened.push({ stream, connection: await Connection.open(plan, plan.status) })
  }
  onMeasuring()
  const began = performance.now()
  const responseBytes = await Promise.all(
    opened.map(({ stream, connection }) => sendStream(connection, stream, bodies)),
  )
  const seconds = (performance.now() - began) / 1000
  for (const { connection } of opened) connection.close()
  return { seconds, responseBytes }
}

/** Returns the number of bytes of the response. */
async function sendStream(connection: Connection, stream: Stream, bodies: LongBodies): Promise<number> {
  const response = connection.response()
  void connection.write(Buffer.from(stream.head, 'latin1'))
  // A server that responds early or disconnects stops reading, so wait for the response as well.
  if (stream.upload !== undefined) {
    await Promise.race([sendBody(connection, stream.upload, bodies), response])
  }
  const { status, unexpected, bytes } = await response
  if (unexpected === undefined) return bytes
  throw new Error(`${stream.head.slice(0, stream.head.indexOf(' HTTP/'))}: ${status} ${unexpected}`)
}

async function sendBody(
  connection: Connection,
  { body, bytes, tail }: NonNullable<Stream['upload']>,
  bodies: LongBodies,
): Promise<void> {
  // Double buffering: one is filled while the other is sent.
  const buffers = [Buffer.allocUnsafeSlow(PIECE_BYTES), Buffer.allocUnsafeSlow(PIECE_BYTES)] as const
  let before = Promise.resolve()
  for (let piece = 0; piece * PIECE_BYTES < bytes; piece++) {
    const buffer = buffers[piece % 2 === 0 ? 0 : 1]
    bodies.fill(buffer, body, piece)
    const sent = connection.write(buffer.subarray(0, Math.min(PIECE_BYTES, bytes - piece * PIECE_BYTES)))
    await before
    before = sent
  }
  void connection.write(Buffer.from(tail, 'latin1'))
}

runPlanFromParent((plan, onMeasuring) => runPlan(plan as StreamPlan, onMeasuring))
