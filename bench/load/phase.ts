import type { Connection, RawAnswer } from './connection.ts'
import type { Amount } from './plan.ts'
import type { RequestTemplate } from './request-template.ts'

/** A connection with the bytes it sends. */
export interface Client {
  readonly connection: Connection
  readonly template: RequestTemplate
}

/** What came of a phase. */
export interface PhaseResult {
  readonly latenciesMs: readonly number[]
  readonly seconds: number
  readonly bytes: number
  readonly errors: number
  readonly samples: readonly string[]
}

const MOST_SAMPLES = 3

/** Keeps all clients busy until so much is done, then waits for the answers still under way. */
export function runPhase(
  clients: readonly Client[],
  amount: Amount,
  nextNumber: () => number,
): Promise<PhaseResult> {
  return new Promise((resolve, reject) => {
    const latenciesMs: number[] = []
    const samples: string[] = []
    const began = performance.now()
    let [begun, errors, bytes, busy] = [0, 0, 0, clients.length]
    const isOver = (now: number) => ('count' in amount ? begun >= amount.count : now - began >= amount.ms)
    const note = (answer: RawAnswer) => {
      bytes += answer.bytes
      if (answer.unwanted === undefined) return
      errors += 1
      if (samples.length < MOST_SAMPLES) samples.push(`${answer.status} ${answer.unwanted}`)
    }
    const goOn = ({ connection, template }: Client, now: number) => {
      if (isOver(now)) {
        busy -= 1
        if (busy === 0) resolve({ latenciesMs, seconds: (now - began) / 1000, bytes, errors, samples })
        return
      }
      begun += 1
      const onAnswer = (answer: RawAnswer) => {
        const answeredAt = performance.now()
        latenciesMs.push(answeredAt - now)
        note(answer)
        goOn({ connection, template }, answeredAt)
      }
      connection.send(template.fill(nextNumber()), onAnswer, reject)
    }
    for (const client of clients) goOn(client, performance.now())
  })
}
