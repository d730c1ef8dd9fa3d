import type { DatabaseSetting } from '../../src/platform/database/index.ts'
import { moveDatabase } from '../../src/programs/assembly/index.ts'

// Moves a database and kills this process in the middle: FROM TO STEPS, the first two as JSON. Prints the report if there are fewer steps.
const [from = '', to = '', steps = ''] = process.argv.slice(2)
let left = Number(steps)
const report = await moveDatabase({
  from: JSON.parse(from) as DatabaseSetting,
  to: JSON.parse(to) as DatabaseSetting,
  onStep() {
    if (left-- === 0) process.kill(process.pid, 'SIGKILL')
  },
})
process.stdout.write(JSON.stringify(report))
