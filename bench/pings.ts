import type { BenchServer } from './bench-server.ts'
import type { Row } from './row.ts'

/** Pings one after another while the work goes on: the longest is how long the event loop was held at most. */
export async function besidePings<Result extends object>(
  server: BenchServer,
  work: () => Promise<Result>,
): Promise<Result & { readonly longest: number }> {
  const state = { isOver: false }
  let longest = 0
  const pinging = (async () => {
    while (!state.isOver) {
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
    state.isOver = true
    await pinging
  }
}

/** The median over some rounds. */
export function longestPing(beside: string, rounds: readonly { readonly longest: number }[]): Row {
  const sorted = rounds.map(({ longest }) => longest).sort((a, b) => a - b)
  const value = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  return { what: `longest ping beside ${beside}`, value, unit: 'ms', target: { atMost: 15 } }
}
