import type { Config } from '../../base/config/index.ts'
import { futureCommits } from '../../libraries/commits/index.ts'
import { countFutureHistory, repairFutureHistory } from '../../libraries/history/index.ts'
import { countFutureSignIns, repairFutureSignIns } from '../../people/credentials/index.ts'
import { confirmTime, findSeenTime, MAX_JUMP_SECONDS } from '../../platform/clock/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { openExistingDatabase } from './accounts.ts'
import { print } from './output.ts'

/** Clocks of several machines differ by less. */
const MAX_SKEW_SECONDS = 300
const LEFT = 1

/**
 * Counts times in the future, which a server with a wrong clock wrote, and with `repair` sets them to the current time. Resolves to the exit
 * code. Only on request, never by the server itself: while its clock is behind, every right time would look wrong.
 */
export async function clock(
  config: Config,
  options: { repair: boolean; confirm: boolean; json: boolean },
): Promise<number> {
  await using db = await openExistingDatabase(config)
  const now = Math.floor(Date.now() / 1000)
  const limit = now + MAX_SKEW_SECONDS
  const found = {
    ...(await futureCommits.count(db, limit)),
    ...(await countFutureHistory(db, limit)),
    ...(await countFutureSignIns(db, limit)),
  }
  const isClean = Object.values(found).every((count) => count === 0)
  const isRepaired = options.repair && !isClean
  if (isRepaired) {
    await db.write(async (tx) => {
      await futureCommits.repair(tx, limit, now)
      await repairFutureHistory(tx, limit, now)
      await repairFutureSignIns(tx, limit, now)
    })
  }
  if (options.confirm) await db.write((tx) => confirmTime(tx, now))
  const jump = options.confirm ? undefined : await findJump(db, now)
  const time = new Date(now * 1000).toISOString()
  const { commits, libraries, trashItems, paths, signIns } = found
  const what = `${commits} commits, ${libraries} libraries, ${trashItems} deleted items, ${paths} paths and ${signIns} sign-ins`
  print(options.json, { now: time, found, repaired: isRepaired, seen: jump ?? null }, [
    isClean
      ? `It is ${time}, and nothing was stored after that.`
      : isRepaired
        ? `Set the times of ${what} to ${time}.`
        : `It is ${time}, but ${what} have later times. If this clock is right, run carrel clock --repair.`,
    ...(options.confirm ? [`Confirmed that it is ${time}.`] : []),
    ...(jump === undefined
      ? []
      : [
          `Nothing is deleted because of its age: the clock was last seen at ${jump}. If it is right now, run carrel clock --confirm.`,
        ]),
  ])
  return (isClean || isRepaired) && jump === undefined ? 0 : LEFT
}

/** The last time that was seen, if the clock is too far beyond it. */
async function findJump(db: Database, now: number): Promise<string | undefined> {
  const seen = await findSeenTime(db)
  if (seen === undefined || now <= seen.seenAt + MAX_JUMP_SECONDS) return undefined
  return new Date(seen.seenAt * 1000).toISOString()
}
