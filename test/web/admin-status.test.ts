import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { dbOf } from '../../src/libraries/library/core.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { beginRun, endRun } from '../../src/maintenance/backup/backup-run-store.ts'
import { finishPass, insertPass } from '../../src/maintenance/check/check-store.ts'
import { deleteCollection, insertCollection } from '../../src/maintenance/gc/collection-store.ts'
import { auditActions } from '../../src/people/audit/actions.ts'
import { downloadedBytes } from '../support/browser.ts'
import { uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

const DAY = 86_400

describe('the server status and the audit log', () => {
  /** How far the clock of the server is behind, in seconds. */
  let behind = 0
  const suite = webSuite({ now: () => Math.floor(Date.now() / 1000) - behind })

  async function asAdmin(t: TestContext, more: BrowserContextOptions = {}) {
    return suite.openTab(t, await suite.server.admin(), more)
  }

  it('search and export the audit log', async (t) => {
    const tab = await asAdmin(t)
    if (tab === undefined) return
    const { page } = tab
    const user = await suite.server.signUp({ email: 'agnes.acts@example.org' })
    await user.createLibrary('Noted')
    for (let count = 0; count < 60; count += 1) await user.createLibrary(`Many ${count}`)
    await tab.go('/admin/audit')
    const actions = page.getByLabel('Action', { exact: true })
    await actions.waitFor()
    const offered = await actions
      .locator('option')
      .evaluateAll((options) => options.map((option) => (option as unknown as { value: string }).value))
    assert.deepEqual(offered.slice(1).sort(), [...auditActions].sort())
    const narrowed = page.waitForResponse(
      (response) => response.url().includes('agnes') && response.url().includes('library-made'),
    )
    await page.getByLabel('User', { exact: true }).fill(user.email)
    await actions.selectOption('library-made')
    await narrowed
    const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row')
    await rows.nth(50).waitFor()
    assert.equal(await rows.count(), 51)
    await page.getByRole('button', { name: 'Show more' }).click()
    await rows.nth(61).waitFor()
    assert.equal(await rows.count(), 62)
    await tab.checkAccess()
    await tab.picture('admin-audit')
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const download = await saved
    assert.equal(download.suggestedFilename(), 'audit-log.ndjson')
    const lines = (await downloadedBytes(download)).toString().trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line))
    assert.equal(entries.length, 61)
    assert.ok(entries.every(({ actor, action }) => actor === user.email && action === 'library-made'))
    await page.getByLabel('From').fill('2099-01-01')
    await page.getByText('No entries').waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('show the health of the server and its growth', async (t) => {
    const user = await suite.server.signUp()
    const id = await user.createLibrary('Growing')
    const { statistics, usage } = suite.server.running.services
    for (let day = 15; day >= 0; day -= 1) {
      behind = day * DAY
      const bytes = Buffer.alloc(40_000 + ((day * 7919) % 11) * 10_000, day)
      await uploadFile(user, id, `/${day % 9}.bin`, bytes, { replace: true })
      await statistics.record()
    }
    await usage.refresh()
    await statistics.recordStored(usage)
    const tab = await asAdmin(t)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/admin')
    await page.getByText('Database responding').waitFor()
    const panel = (name: string) =>
      page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) })
    await panel('Health').getByText('Data folder writable').waitFor()
    await panel('Integrity').getByText('No known damage').waitFor()
    await panel('Backups').getByText('Nothing is backed up').waitFor()
    const stored = panel('Storage')
    await stored.getByText('Current files').waitFor()
    // The same label has the same number on every page.
    const fact = stored.locator('.admin-facts > div').filter({ hasText: 'File size' })
    const fileSize = (await fact.locator('dd').textContent()) ?? ''
    assert.match(fileSize, /\d/)
    assert.match((await fact.getAttribute('title')) ?? '', /quotas count it/)
    await panel('Search index').getByText('Changes to index').waitFor()
    await panel('Jobs').getByText('Maintenance is running normally').waitFor()
    await tab.picture('admin-status')
    await page.getByRole('link', { name: 'Statistics' }).click()
    const chart = page.getByRole('figure', { name: /^Files/ })
    await chart.waitFor()
    await page.locator('.admin-numbers > div').filter({ hasText: 'File size' }).getByText(fileSize).waitFor()
    assert.equal(await chart.getByRole('row').count(), 17)
    await tab.picture('admin-statistics')
    await page.getByRole('link', { name: 'Storage' }).click()
    await page.getByRole('table', { name: 'Storage' }).getByText(user.email).waitFor()
    await tab.picture('admin-storage')
    assert.deepEqual(tab.complaints, [])

    const phone = await asAdmin(t, { ...PHONE, colorScheme: 'dark', locale: 'de-DE' })
    for (const section of ['', '/statistics', '/users', '/libraries', '/audit']) {
      await phone?.go(`/admin${section}`)
      await phone?.page.getByRole('heading', { name: 'Verwaltung' }).waitFor()
      await phone?.page.locator('.page:not(:has(.waiting))').waitFor()
      await phone?.picture(`admin${section.replace('/', '-')}-phone-dark`)
      if (phone !== undefined) await fitsWidth(phone.page)
    }
  })

  it('show the nodes if there are several', async (t) => {
    behind = 0
    const { core, node } = suite.server.running.services
    // The next heartbeat would delete the others.
    node.beat = async () => {}
    const now = core.now()
    const insert = (id: string, heartbeat: number) =>
      dbOf(core).write((tx) =>
        tx.insert(
          'cluster_node',
          ['id', 'version', 'address', 'started_at', 'heartbeat_at', 'blocks'],
          [[id, '0.1.0', `${id}:8000`, now - 1000, heartbeat, '']],
        ),
      )
    await insert('silent', now - 600)
    await insert('stopped', 0)
    const tab = await asAdmin(t)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/admin')
    const nodes = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Nodes', exact: true }) })
    await nodes.getByText('running version').waitFor()
    await nodes.getByText('silent:8000: no heartbeat since').waitFor()
    await nodes.getByText('stopped:8000: stopped').waitFor()
    await tab.checkAccess()
    await tab.picture('admin-nodes')
    assert.deepEqual(tab.complaints, [])
  })

  it('show a backup, a check and a collection that have not finished', async (t) => {
    behind = 0
    const { db, core } = suite.server.running.services
    const run = await beginRun(db, { kind: 'backup', target: '/mnt/backup', now: core.now() })
    const pass = await insertPass(db, 'all', core.now())
    const collection = await db.write((tx) => insertCollection(tx, core.now()))
    const tab = await asAdmin(t)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/admin')
    await page.getByText(/^Backup started .*, not finished yet$/).waitFor()
    await page.getByText(/^Check started .*, not finished yet$/).waitFor()
    await page.getByText(/^Collection started .*, not finished yet$/).waitFor()
    // The first backup is on its way, so nobody needs to be told how to make one.
    assert.equal(await page.getByText('carrel backup /mnt/backup').count(), 0)
    await tab.checkAccess()
    await tab.picture('admin-unfinished')
    await endRun(db, run, { outcome: 'succeeded', now: core.now() })
    await finishPass(db, pass.key, core.now())
    await db.write((tx) => deleteCollection(tx, collection))
    await page.reload()
    await page.getByText('The server is backed up').waitFor()
    assert.equal(await page.getByText('not finished yet').count(), 0)
    assert.deepEqual(tab.complaints, [])
  })

  it('show a lost block, and why a backup and a collection failed', async (t) => {
    behind = 0
    const { server } = suite
    const user = await server.signUp()
    const id = await user.createLibrary('Rotten')
    await uploadFile(user, id, '/rotten.bin', Buffer.alloc(100_000, 'rotten'))
    const blocks = path.join(server.data, 'blocks')
    const name = createHash('sha1').update(Buffer.alloc(100_000, 'rotten')).digest('hex')
    await rm(path.join(blocks, name.slice(0, 2), name.slice(2)))
    const link = await user.get(`/api2/repos/${id}/file/`, { p: '/rotten.bin' })
    await fetch(link.body).then(
      (response) => response.arrayBuffer().catch(() => undefined),
      () => undefined,
    )
    const { db, core, gc } = server.running.services
    const run = await beginRun(db, { kind: 'backup', target: '/mnt/backup', now: core.now() })
    const message =
      'Cannot write /mnt/backup/packs/0a, because there is no space left: make room on its disk.'
    await endRun(db, run, { outcome: 'failed', message, now: core.now() })
    await db.write((tx) =>
      tx.run(
        'delete from fs_object where (library_key, id) in (select key, root from library where id = ?)',
        id,
      ),
    )
    storesOf(core).objects.clearCache()
    await gc.runOnce()
    for (const [look, more] of Object.entries({
      light: {},
      'phone-dark': { ...PHONE, colorScheme: 'dark' },
    } as Record<string, BrowserContextOptions>)) {
      const tab = await asAdmin(t, more)
      if (tab === undefined) return
      await tab.go('/admin')
      const { page } = tab
      await page.getByText('1 block is missing or damaged').waitFor()
      await page.getByText(/^The backup of .* failed\. Cannot write \/mnt\/backup/).waitFor()
      await page.getByText(/^The last run failed\. The library Rotten \(/).waitFor()
      await page.getByText('carrel repair --from /mnt/backup').waitFor()
      await fitsWidth(page)
      await tab.checkAccess()
      await tab.picture(`admin-damage-${look}`)
    }
  })
})
