import type { BenchServer } from './bench-server.ts'
import type { Row } from './row.ts'

/** Sends pings one after another while `work` runs. The longest one shows how long the event loop was blocked. */
export async function whilePinging<Result extends object>(
  server: BenchServer,
  work: () => Promise<Result>,
): Promise<Result & { readonly longest: number }> {
  const state = { isDone: false }
  let longest = 0
  const pinging = (async () => {
    while (!state.isDone) {
      const began = performance.now()
      const { status } = await server.client.get('/api2/ping/')
      if (status !== 200) throw new Error(`a ping was answered with ${status}`)
      longest = Math.max(longest, performance.now() - began)
    }
  })()
  try {
    const result = await work()
    return { ...result, longest }
  } finally {
    state.isDone = true
    await pinging
  }
}

/** The median of the longest pings of several rounds. */
export function longestPing(beside: string, rounds: readonly { readonly longest: number }[]): Row {
  const sorted = rounds.map(({ longest }) => longest).sort((a, b) => a - b)
  const value = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  return { what: `longest ping beside ${beside}`, value, unit: 'ms', target: { atMost: 15 } }
}
