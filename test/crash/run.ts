import { parseArgs } from 'node:util'
import { cannotBuildShim } from '../support/io-shim.ts'
import { cutPower } from './power-cut.ts'

// `npm run test:crash -- --states 5000`: many states of a disk after a power failure. Each seed records new servers, for 500 states. The exit
// code is 1 if something acknowledged is lost in one of them. `--only TEXT` selects scenarios by their name, `--seed N` the first seed.

const STATES_PER_RECORDING = 500

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
})

const reason = cannotBuildShim()
if (reason !== false) throw new Error(`Nothing was tested: ${reason}.`)

let left = Number(values.states)
let checked = 0
const problems: string[] = []
for (let seed = Number(values.seed); left > 0 && problems.length === 0; seed += 1) {
  const states = Math.min(left, STATES_PER_RECORDING)
  left -= states
  const report = (line: string) => console.log(`seed ${seed}, ${line}`)
  const result = await cutPower({ states, seed, only: values.only, report })
  checked += result.checked
  problems.push(...result.problems)
}
for (const problem of problems) console.error(`\n${problem}`)
console.log(`${checked} states checked, ${problems.length} with a problem.`)
process.exitCode = problems.length === 0 ? 0 : 1
