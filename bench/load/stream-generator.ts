import { serveParent } from './child.ts'
import { Connection } from './connection.ts'
import { LongBodies, PIECE_BYTES } from './stream-body.ts'
import type { Stream, StreamPlan, StreamResult } from './stream-plan.ts'

// A process of its own, as generator.ts: streams long bodies to a server, or reads long answers from it.

async function carryOut(plan: StreamPlan, onMeasuring: () => void): Promise<StreamResult> {
  const bodies = new LongBodies()
  const opened: { stream: Stream; connection: Connection }[] = []
  for (const stream of plan.streams) {
    opened.push({ stream, connection: await Connection.open(plan.host, plan.port, plan.status) })
  }
  onMeasuring()
  const began = performance.now()
  const answered = await Promise.all(
    opened.map(({ stream, connection }) => sendStream(connection, stream, bodies)),
  )
  const seconds = (performance.now() - began) / 1000
  for (const { connection } of opened) connection.close()
  return { seconds, answered }
}

/** Bytes of the answer. */
async function sendStream(connection: Connection, stream: Stream, bodies: LongBodies): Promise<number> {
  const answer = connection.answer()
  void connection.write(Buffer.from(stream.head, 'latin1'))
  // A server that answers early or goes away takes no more, so the body is not waited for alone.
  if (stream.upload !== undefined) {
    await Promise.race([sendBody(connection, stream.upload, bodies), answer])
  }
  const { status, unwanted, bytes } = await answer
  if (unwanted === undefined) return bytes
  throw new Error(`${stream.head.slice(0, stream.head.indexOf(' HTTP/'))}: ${status} ${unwanted}`)
}

async function sendBody(
  connection: Connection,
  { body, bytes, tail }: NonNullable<Stream['upload']>,
  bodies: LongBodies,
): Promise<void> {
  // One is filled while the other is under way.
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

serveParent((plan, onMeasuring) => carryOut(plan as StreamPlan, onMeasuring))
