import { setTimeout as delay } from 'node:timers/promises'

/** Waits for the work for at most `ms`. Resolves to whether it finished; rejects if it rejected. */
export async function doneWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const giveUp = new AbortController()
  const timeUp = delay(ms, false, { signal: giveUp.signal }).catch(() => false)
  try {
    return await Promise.race([work.then(() => true), timeUp])
  } finally {
    giveUp.abort()
  }
}
