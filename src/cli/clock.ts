import { countFutureCommits, repairFutureCommits } from '../commits/index.ts'
import type { Config } from '../config/index.ts'
import { countFutureHistory, repairFutureHistory } from '../history/index.ts'
import { countFutureSignIns, repairFutureSignIns } from '../identity/index.ts'
import { openExistingDatabase } from './accounts.ts'
import { print } from './output.ts'

/** Clocks of several machines differ by less. */
const MAX_SKEW_SECONDS = 300
const LEFT = 1

/**
 * Counts times in the future, which a server with a wrong clock wrote, and with `repair` sets them to the current time. Resolves to the exit
 * code. Only on request, never by the server itself: while its clock is behind, every right time would look wrong.
 */
export async function clock(config: Config, options: { repair: boolean; json: boolean }): Promise<number> {
  await using db = await openExistingDatabase(config)
  const now = Math.floor(Date.now() / 1000)
  const limit = now + MAX_SKEW_SECONDS
  const found = {
    ...(await countFutureCommits(db, limit)),
    ...(await countFutureHistory(db, limit)),
    ...(await countFutureSignIns(db, limit)),
  }
  const isClean = Object.values(found).every((count) => count === 0)
  const isRepaired = options.repair && !isClean
  if (isRepaired) {
    await db.write(async (tx) => {
      await repairFutureCommits(tx, limit, now)
      await repairFutureHistory(tx, limit, now)
      await repairFutureSignIns(tx, limit, now)
    })
  }
  const time = new Date(now * 1000).toISOString()
  const { commits, libraries, trashItems, paths, signIns } = found
  const what = `${commits} commits, ${libraries} libraries, ${trashItems} deleted items, ${paths} paths and ${signIns} sign-ins`
  print(options.json, { now: time, found, repaired: isRepaired }, [
    isClean
      ? `It is ${time}, and nothing was stored after that.`
      : isRepaired
        ? `Set the times of ${what} to ${time}.`
        : `It is ${time}, but ${what} have later times. If this clock is right, run carrel clock --repair.`,
  ])
  return isClean || isRepaired ? 0 : LEFT
}
