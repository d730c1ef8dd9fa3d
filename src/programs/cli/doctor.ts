import { type Config, ConfigError } from '../../base/config/index.ts'
import { configFrom } from './config-flags.ts'
import {
  checkClock,
  checkDatabase,
  checkLog,
  checkSpaceRelease,
  checkStoredData,
} from './doctor/database-checks.ts'
import { type Finding, fail, ok } from './doctor/finding.ts'
import { checkDataFolder, checkFreeSpace } from './doctor/folder-checks.ts'
import { checkMail, checkPort, checkPublicUrl } from './doctor/network-checks.ts'
import { checkSandbox } from './doctor/sandbox-check.ts'
import { checkBackup, checkStorage } from './doctor/storage-checks.ts'
import { nodeProblem } from './node-version.ts'
import { print } from './output.ts'

const checks: readonly ((config: Config) => Promise<Finding | readonly Finding[]>)[] = [
  checkDataFolder,
  checkFreeSpace,
  checkStorage,
  checkDatabase,
  checkLog,
  checkStoredData,
  checkSpaceRelease,
  checkBackup,
  checkClock,
  checkPort,
  checkPublicUrl,
  checkMail,
  checkSandbox,
]

/** Prints the findings without changing anything, and resolves to the exit code. */
export async function doctor(options: { json?: true }): Promise<number> {
  const findings = [checkNode(), ...(await checkSettings(options))]
  const isOk = findings.every(({ status }) => status !== 'fail')
  print(options.json === true, { ok: isOk, checks: findings }, findings.map(lineOf))
  return isOk ? 0 : 1
}

function checkNode(): Finding {
  const problem = nodeProblem(process.versions.node)
  if (problem === undefined) return ok('node', `Node.js ${process.versions.node}`)
  return fail('node', `Node.js ${process.versions.node} will not do`, problem)
}

/** All other checks need valid settings. */
async function checkSettings(options: object): Promise<Finding[]> {
  let config: Config
  try {
    config = configFrom(options)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [fail('settings', 'the settings cannot be used', error.message)]
  }
  const found = await Promise.all(checks.map((check) => check(config)))
  return [ok('settings', 'the settings can be used'), ...found.flat()]
}

function lineOf({ status, check, message, remedy }: Finding): string {
  const line = `${status.padEnd(4)}  ${check.padEnd(11)}  ${message}`
  return remedy === undefined ? line : `${line}: ${remedy}`
}
