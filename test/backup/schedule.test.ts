import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { it } from 'node:test'
import { createLogger } from '../../src/base/logging.ts'
import { carrel } from '../support/command.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { flagsOf, temporaryFolder } from './support.ts'

it('a server backs itself up and verifies it, and shows both; a failure is shown until the next success', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  let now = Math.floor(Date.now() / 1000)
  await using server = await startServer({
    env: { CARREL_BACKUP_TARGET: target, CARREL_BACKUP_INTERVAL_HOURS: '2', CARREL_BACKUP_KEEP_LAST: '1' },
    now: () => now,
    logger: createLogger('silent', { pretty: false }),
  })
  const { scheduledBackups } = server.running.services
  const admin = await server.admin()
  const status = async () => (await admin.get('/api/v2.1/admin/status/')).body
  const metric = async (name: string) => {
    const { text } = await admin.get('/metrics')
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }
  const doctor = async () => (await carrel(['doctor', ...flagsOf(server)])).stdout
  assert.match(await doctor(), /warn {2}backup +there has never been a backup/)
  assert.equal((await status()).last_backup, null)

  await uploadFile(admin, await admin.createLibrary('Papers'), '/a.txt', Buffer.from('one'))
  await scheduledBackups.look()
  const shown = await status()
  assert.ok(Math.abs(Date.parse(shown.last_backup) / 1000 - now) < 100, shown.last_backup)
  assert.ok(Math.abs(Date.parse(shown.last_verified_backup) / 1000 - now) < 100)
  assert.equal(shown.backup_failure, null)
  assert.ok((await metric('carrel_backup_last_success_timestamp_seconds')) > 0)
  assert.ok((await metric('carrel_backup_last_verified_timestamp_seconds')) > 0)
  assert.equal(await metric('carrel_backup_failed'), 0)
  assert.match(await doctor(), /ok {4}backup +the last backup is of 2/)

  // Not due yet.
  const listed = async () => JSON.parse((await carrel(['backup', 'list', target, '--json'])).stdout).snapshots
  await scheduledBackups.look()
  assert.equal((await listed()).length, 1)
  const [first] = await listed()

  now += 3 * 3600
  await rm(target, { recursive: true })
  await writeFile(target, 'a file where the folder was')
  await scheduledBackups.look()
  const failed = await status()
  assert.equal(failed.backup_failure.kind, 'backup')
  assert.match(failed.backup_failure.message, /The backup folder .* cannot be/)
  assert.equal(failed.last_backup, shown.last_backup)
  assert.equal(await metric('carrel_backup_failed'), 1)
  assert.match(await doctor(), /warn {2}backup +the last backup, at .*, failed/)

  await rm(target)
  now += 2 * 3600
  await scheduledBackups.look()
  assert.equal((await status()).backup_failure, null)
  const [second] = await listed()
  assert.notEqual(second.snapshot, first.snapshot)
})
