import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { createEncrypted, download, openEncrypted } from '../support/encrypted.ts'
import { headOf, namesIn, storedBytes, uploadFile } from '../support/transfer.ts'
import { PHONE, webSuite } from './support.ts'
import { dragPaths, dropFiles, madeBytes, networkOf } from './upload-support.ts'

const title = (page: Page, text: string | RegExp) => page.getByRole('heading', { level: 2, name: text })

describe('uploads', () => {
  const suite = webSuite()

  async function setUp(options: Parameters<typeof suite.openTab>[2] = {}) {
    const person = await suite.server.signUp()
    const library = await person.createLibrary('Photos')
    return { person, library, options }
  }

  it('accept files dropped on a folder, whatever their names', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${library}`)
    const names = [
      'a.txt',
      'say "hi" & <b>%41.txt',
      '\u202egpj.exe',
      `${'ü'.repeat(125)}.txt`,
      '日本 📷.txt',
      'empty',
    ]
    await dropFiles(
      page,
      names.map((name) => ({ name, text: name === 'empty' ? '' : `This is ${name}` })),
    )
    await title(page, '6 items uploaded').waitFor()
    assert.deepEqual(await namesIn(person, library), names.toSorted())
    for (const name of names.slice(0, 5)) {
      assert.equal((await storedBytes(suite.server, library, `/${name}`)).toString(), `This is ${name}`)
    }
    await tab.picture('uploads-done')
    await page.getByRole('link', { name: 'Show in folder', exact: true }).first().click()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('region', { name: 'Uploads' }).waitFor({ state: 'detached' })
    assert.deepEqual(tab.complaints, [])
  })

  it('accept whole folders, including empty ones', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person, { colorScheme: 'dark' })
    if (tab === undefined) return
    const root = await mkdtemp(path.join(os.tmpdir(), 'carrel-drop-'))
    t.after(() => rm(root, { recursive: true, force: true }))
    await mkdir(path.join(root, 'trip/day 1'), { recursive: true })
    await mkdir(path.join(root, 'trip/nothing/below'), { recursive: true })
    await writeFile(path.join(root, 'trip/plan.md'), 'Go.')
    await writeFile(path.join(root, 'trip/day 1/sea.txt'), 'Blue.')
    await writeFile(path.join(root, 'alone.txt'), 'Alone.')
    const { page } = tab
    await person.post(`/api2/repos/${library}/dir/?p=/inner`, { form: { operation: 'mkdir' } })
    await tab.go(`/library/${library}?p=/inner`)
    await dragPaths(page, [path.join(root, 'trip')], { drop: false })
    await page.getByText('Drop to upload here').waitFor()
    await tab.picture('uploads-drop-dark')
    await dragPaths(page, [path.join(root, 'trip'), path.join(root, 'alone.txt')])
    await title(page, '4 items uploaded').waitFor()
    assert.deepEqual(await namesIn(person, library, '/inner'), ['alone.txt', 'trip/'])
    assert.deepEqual(await namesIn(person, library, '/inner/trip'), ['day 1/', 'nothing/', 'plan.md'])
    assert.deepEqual(await namesIn(person, library, '/inner/trip/nothing'), ['below/'])
    assert.equal((await storedBytes(suite.server, library, '/inner/trip/day 1/sea.txt')).toString(), 'Blue.')
    await tab.picture('uploads-done-dark')
    assert.deepEqual(tab.complaints, [])
  })

  it('accept selected files and folders', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    const root = await mkdtemp(path.join(os.tmpdir(), 'carrel-drop-'))
    t.after(() => rm(root, { recursive: true, force: true }))
    await mkdir(path.join(root, 'chosen/inner'), { recursive: true })
    await writeFile(path.join(root, 'chosen/inner/deep.txt'), 'Deep.')
    await writeFile(path.join(root, 'chosen/flat.txt'), 'Flat.')
    await tab.go(`/library/${library}`)
    const choose = async (entry: string, what: string) => {
      await page.getByRole('button', { name: 'Upload', exact: true }).click()
      const asked = page.waitForEvent('filechooser')
      await page.getByRole('menuitem', { name: entry }).click()
      await (await asked).setFiles(what)
    }
    await choose('Upload files', path.join(root, 'chosen/flat.txt'))
    await title(page, '1 item uploaded').waitFor()
    await choose('Upload folder', path.join(root, 'chosen'))
    await title(page, '3 items uploaded').waitFor()
    assert.deepEqual(await namesIn(person, library), ['chosen/', 'flat.txt'])
    assert.deepEqual(await namesIn(person, library, '/chosen'), ['flat.txt', 'inner/'])
    assert.equal((await storedBytes(suite.server, library, '/chosen/inner/deep.txt')).toString(), 'Deep.')
    assert.deepEqual(tab.complaints, [])
  })

  it('keep the modification time of every file: batched, alone and in chunks', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${library}`)
    const files = [
      { name: 'a.txt', text: 'a', modified: 1_000_000_000_000 },
      { name: 'b.txt', text: 'b', modified: 1_100_000_000_999 },
      { name: 'alone.bin', size: 1_500_000, modified: 1_200_000_000_000 },
      { name: 'chunks.bin', size: 17_000_000, modified: 1_300_000_000_000 },
    ]
    await dropFiles(page, files)
    await title(page, '4 items uploaded').waitFor()
    const { body } = await person.get(`/api/v2.1/repos/${library}/dir/`, { p: '/' })
    const times = new Map(
      body.dirent_list.map((entry: { name: string; mtime: number }) => [entry.name, entry.mtime]),
    )
    for (const { name, modified } of files) assert.equal(times.get(name), Math.floor(modified / 1000), name)
  })

  it('send hundreds of small files in a few requests', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${library}`)
    let requests = 0
    page.on('request', (request) => {
      if (request.url().includes('/upload-api/')) requests += 1
    })
    await dropFiles(
      page,
      Array.from({ length: 300 }, (_, n) => ({ name: `n${n}.txt`, text: `number ${n}` })),
    )
    await title(page, '300 items uploaded').waitFor()
    assert.equal((await namesIn(person, library)).length, 300)
    assert.ok(requests <= 4, String(requests))
    // The list contains all of them, but renders only the rows in view.
    const rows = page.getByRole('region', { name: 'Uploads' }).getByRole('listitem')
    assert.ok((await rows.count()) < 30)
    assert.equal(await rows.first().getAttribute('aria-setsize'), '300')
  })

  it('ask once about existing files, and apply the answer', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    for (const name of ['/a.txt', '/b.txt']) await uploadFile(person, library, name, 'old')
    await tab.go(`/library/${library}`)
    const files = ['a.txt', 'b.txt', 'c.txt'].map((name) => ({ name, text: 'new' }))

    await dropFiles(page, files)
    const dialog = page.getByRole('dialog', { name: '2 files already exist' })
    await dialog.waitFor()
    await tab.checkAccess()
    await tab.picture('uploads-conflict')
    await dialog.getByRole('button', { name: 'Skip' }).click()
    await title(page, '1 item uploaded').waitFor()
    assert.deepEqual(await namesIn(person, library), ['a.txt', 'b.txt', 'c.txt'])
    assert.equal((await storedBytes(suite.server, library, '/a.txt')).toString(), 'old')

    await dropFiles(page, files.slice(0, 2))
    await dialog.getByRole('button', { name: 'Keep both' }).click()
    await title(page, '3 items uploaded').waitFor()
    assert.deepEqual(await namesIn(person, library), ['a (1).txt', 'a.txt', 'b (1).txt', 'b.txt', 'c.txt'])

    await dropFiles(page, files.slice(0, 2))
    await dialog.getByRole('button', { name: 'Replace' }).click()
    await title(page, '5 items uploaded').waitFor()
    assert.equal((await storedBytes(suite.server, library, '/b.txt')).toString(), 'new')
    assert.equal((await namesIn(person, library)).length, 5)

    const before = await headOf(person, library)
    await dropFiles(page, files.slice(0, 2))
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    await title(page, '5 items uploaded').waitFor()
    assert.equal(await headOf(person, library), before)
    assert.deepEqual(tab.complaints, [])
  })

  it('report a full quota, keep what fits, and continue once there is space', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    const admin = await suite.server.admin()
    const quota = (megabytes: number) =>
      admin.put(`/api/v2.1/admin/users/${person.email}/`, { json: { quota_total: megabytes } })
    assert.equal((await quota(3)).status, 200)
    await tab.go(`/library/${library}`)
    await dropFiles(page, [
      { name: 'big.bin', size: 5_000_000 },
      { name: 'bigger.bin', size: 12_000_000 },
      { name: 'small.txt', text: 'fits' },
    ])
    await title(page, '2 items were not uploaded').waitFor()
    await page.getByRole('button', { name: 'Show the list' }).click()
    await page.getByText('Not enough storage space.').first().waitFor()
    assert.deepEqual(await namesIn(person, library), ['small.txt'])
    await tab.checkAccess()
    await tab.picture('uploads-quota-phone-dark')
    assert.equal((await quota(100)).status, 200)
    await page.getByRole('button', { name: 'Try again' }).click()
    await title(page, '3 items uploaded').waitFor()
    assert.deepEqual(await namesIn(person, library), ['big.bin', 'bigger.bin', 'small.txt'])
  })

  it('pause and resume, for one file and for all, and drop canceled ones', async (t) => {
    const { person, library } = await setUp()
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${library}`)
    const network = await networkOf(page)
    await network.slow(100_000)
    await dropFiles(page, [
      { name: 'one.bin', size: 5_000_000 },
      { name: 'two.bin', size: 6_000_000 },
      { name: 'three.bin', size: 7_000_000 },
    ])
    await page.getByRole('button', { name: 'Pause one.bin' }).click()
    await page.getByRole('button', { name: 'Resume one.bin' }).waitFor()
    await page.getByRole('button', { name: 'Remove three.bin from the list' }).click()
    await page.getByText(/left/).waitFor()
    await tab.checkAccess()
    await tab.picture('uploads-under-way')
    await page.getByRole('button', { name: 'Pause all' }).click()
    await title(page, 'Uploads paused').waitFor()
    await network.restore()
    await page.getByRole('button', { name: 'Resume two.bin' }).click()
    await page.getByRole('link', { name: 'Show two.bin in folder' }).waitFor()
    assert.deepEqual(await namesIn(person, library), ['two.bin'])
    await page.getByRole('button', { name: 'Resume all' }).click()
    await title(page, '2 items uploaded').waitFor()
    assert.deepEqual(await namesIn(person, library), ['one.bin', 'two.bin'])
    assert.deepEqual(tab.complaints, [])
  })

  it('accept files for an unlocked encrypted library, in chunks too', async (t) => {
    const person = await suite.server.signUp()
    const { id } = await createEncrypted(person, 4)
    await openEncrypted(person, id)
    const tab = await suite.openTab(t, person)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${id}`)
    await dropFiles(page, [
      { name: 'secret.txt', text: 'Hush.' },
      { name: 'film.bin', size: 20_000_000 },
    ])
    await title(page, '2 items uploaded').waitFor()
    assert.ok((await download(person, id, '/film.bin')).equals(madeBytes(20_000_000)))
    assert.deepEqual(tab.complaints, [])
  })

  it('stop for a whole folder when uploading there is no longer allowed', async (t) => {
    const { person: owner, library } = await setUp()
    const guest = await suite.server.signUp()
    const shared = `/api2/repos/${library}/dir/shared_items/?p=/&share_type=user&username=${guest.email}`
    const grant = (permission: string) =>
      owner.put(`/api2/repos/${library}/dir/shared_items/?p=/`, {
        form: { share_type: 'user', username: guest.email, permission },
      })
    assert.equal((await grant('rw')).status, 200)
    const tab = await suite.openTab(t, guest)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${library}`)
    await page.locator('.drop-zone').waitFor()
    let asked = 0
    await page.route('**/upload-link/**', async (route) => {
      asked += 1
      if (asked === 1) assert.equal((await owner.post(shared, { form: { permission: 'r' } })).status, 200)
      await route.continue()
    })
    await dropFiles(
      page,
      Array.from({ length: 30 }, (_, n) => ({ name: `n${n}.bin`, size: 1_500_000 })),
    )
    await title(page, '30 items were not uploaded').waitFor()
    await page.getByText('You do not have permission to upload here.').first().waitFor()
    assert.deepEqual(await namesIn(owner, library), [])
    assert.ok(asked <= 5, String(asked))
  })
})
