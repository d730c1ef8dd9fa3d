import type { Connection, RawResponse } from './connection.ts'
import type { Amount } from './plan.ts'
import type { RequestTemplate } from './request-template.ts'

/** A connection with the request it sends. */
export interface Client {
  readonly connection: Connection
  readonly template: RequestTemplate
}

/** The result of a phase. */
export interface PhaseResult {
  readonly latenciesMs: readonly number[]
  readonly seconds: number
  readonly bytes: number
  readonly errors: number
  readonly samples: readonly string[]
}

const MAX_SAMPLES = 3

/** Keeps all clients busy until `amount` is done, then waits for the responses in flight. */
export function runPhase(
  clients: readonly Client[],
  amount: Amount,
  nextNumber: () => number,
): Promise<PhaseResult> {
  return new Promise((resolve, reject) => {
    const latenciesMs: number[] = []
    const samples: string[] = []
    const began = performance.now()
    let [started, errors, bytes, busy] = [0, 0, 0, clients.length]
    const isDone = (now: number) => ('count' in amount ? started >= amount.count : now - began >= amount.ms)
    const record = (response: RawResponse) => {
      bytes += response.bytes
      if (response.unexpected === undefined) return
      errors += 1
      if (samples.length < MAX_SAMPLES) samples.push(`${response.status} ${response.unexpected}`)
    }
    const sendNext = ({ connection, template }: Client, now: number) => {
      if (isDone(now)) {
        busy -= 1
        if (busy === 0) resolve({ latenciesMs, seconds: (now - began) / 1000, bytes, errors, samples })
        return
      }
      started += 1
      const onResponse = (response: RawResponse) => {
        const respondedAt = performance.now()
        latenciesMs.push(respondedAt - now)
        record(response)
        sendNext({ connection, template }, respondedAt)
      }
      connection.send(template.fill(nextNumber()), onResponse, reject)
    }
    for (const client of clients) sendNext(client, performance.now())
  })
}
