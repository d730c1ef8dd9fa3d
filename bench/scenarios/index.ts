import type { Scenario } from '../scenario.ts'
import { adding } from './adding.ts'
import { commits } from './commits.ts'
import { create } from './create.ts'
import { history } from './history.ts'
import { listing } from './listing.ts'
import { ping } from './ping.ts'
import { reading } from './reading.ts'
import { rename } from './rename.ts'
import { start } from './start.ts'

/** All scenarios, in the order they run. */
export const scenarios: readonly Scenario[] = [
  ping,
  listing,
  reading,
  create,
  rename,
  adding,
  commits,
  history,
  start,
]
