import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

interface Collect {
  (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }): void
}

/**
 * Gives back to the system what only the start needed, some 20 MB. V8 would keep it for as long as there is little to do.
 * Takes some hundredths of a second, so it is for the moment before anybody knows that we are there.
 */
export function giveBackStartGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
