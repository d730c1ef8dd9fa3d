import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { postForm, uploadFile } from '../support/transfer.ts'
import { addMany } from './files-support.ts'
import { PHONE, webSuite } from './support.ts'

describe('activity and notifications', () => {
  const suite = webSuite()

  async function twoPeople() {
    const [ann, ben] = [await suite.server.signUp(), await suite.server.signUp()]
    assert.equal((await ann.put('/api/v2.1/user/', { json: { name: 'Ann <b>Lee' } })).status, 200)
    const library = await ann.createLibrary('Plans')
    return { ann, ben, library }
  }

  async function share(
    ann: { email: string } & Awaited<ReturnType<typeof twoPeople>>['ann'],
    library: string,
    to: string,
  ) {
    const reply = await ann.put(`/api2/repos/${library}/dir/shared_items/?p=/`, {
      form: { share_type: 'user', username: to, permission: 'rw' },
    })
    assert.equal(reply.status, 200, reply.text)
  }

  it('show a share and changes live', async (t) => {
    const { ann, ben, library } = await twoPeople()
    const tab = await suite.openTab(t, ben)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/activity')
    await page.getByText('No activity yet').waitFor()
    await tab.picture('activity-nothing')
    await share(ann, library, ben.email)
    const bell = page.getByRole('button', { name: 'Notifications, 1 new' })
    await bell.waitFor()
    await uploadFile(ann, library, '/2026/budget.md', 'Save.')
    await page.getByText('Ann <b>Lee added the folder 2026').waitFor()
    await uploadFile(ann, library, '/2026/budget.md', 'Save more.', { replace: true })
    await page.getByText('Ann <b>Lee changed budget.md').waitFor()
    await ann.post(`/api2/repos/${library}/file/?p=/2026/budget.md`, {
      form: { operation: 'rename', newname: 'money.md' },
    })
    await page.getByText('Ann <b>Lee renamed budget.md to money.md').waitFor()
    await page.getByRole('heading', { name: 'Today' }).waitFor()
    await tab.picture('activity')
    await bell.click()
    const list = page.getByRole('dialog', { name: 'Notifications' })
    await list.getByText('shared Plans with you').waitFor()
    await tab.checkAccess()
    await tab.picture('notifications')
    await list.getByRole('button', { name: /shared Plans with you/ }).click()
    await page.waitForURL(`**/app/library/${library}`)
    await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
    assert.equal((await ben.get('/api2/unseen_messages/')).body.count, 0)
    assert.deepEqual(tab.complaints, [])
  })

  it('name visitors of a link as such, on each page that names who changed something', async (t) => {
    const { ann, ben, library } = await twoPeople()
    await uploadFile(ann, library, '/own.txt', 'mine')
    await share(ann, library, ben.email)
    const { body } = await ann.post('/api/v2.1/upload-links/', { json: { repo_id: library, path: '/' } })
    const { upload_link } = (await suite.server.anonymous.get(`/api/v2.1/upload-links/${body.token}/upload/`))
      .body
    for (const filename of ['first.txt', 'second.txt', 'third.txt']) {
      const sent = await postForm(upload_link, [['parent_dir', '/'], { filename, bytes: filename }])
      assert.equal(sent.status, 200, sent.text)
    }
    const tab = await suite.openTab(t, ann, { colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/activity')
    await page.getByText('A visitor added 3 files').waitFor()
    await page.getByText('through a link by Ann <b>Lee').waitFor()
    await page.getByText('Ann <b>Lee added own.txt').waitFor()
    await tab.checkAccess()
    await tab.picture('activity-visitor')
    await page.getByRole('button', { name: 'Mine' }).click()
    await page.getByText('A visitor added').waitFor({ state: 'detached' })
    await page.getByText('Ann <b>Lee added own.txt').waitFor()
    await tab.go(`/history/${library}`)
    await page.getByText('Visitor (link by Ann <b>Lee)').first().waitFor()
    await tab.picture('history-visitor')
    await tab.go('/')
    await page.getByText('Visitor (link by Ann <b>Lee)').first().waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('group changes made together, mark all as seen, and use the language of the reader', async (t) => {
    const { ann, ben, library } = await twoPeople()
    await share(ann, library, ben.email)
    await ann.post(`/api/v2.1/repos/${library}/`, { form: { operation: 'rename', repo_name: 'Pläne' } })
    for (let n = 0; n < 12; n += 1) await uploadFile(ann, library, `/report ${n}.txt`, String(n))
    await ann.delete(`/api2/repos/${library}/file/?p=/report 0.txt`)
    await ben.post('/api/v2.1/monitored-repos/', { form: { repo_id: library } })
    await uploadFile(ann, library, '/watched.txt', 'seen?')
    const tab = await suite.openTab(t, ben, { ...PHONE, colorScheme: 'dark', locale: 'de-DE' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/activity')
    // With the one after the deletion.
    await page.getByText('hat 13 Dateien hinzugefügt').waitFor()
    await page.getByText('und 8 weitere').click()
    await page.getByRole('link', { name: 'report 1.txt' }).waitFor()
    await page.getByText('hat report 0.txt gelöscht').waitFor()
    await tab.picture('activity-phone-dark')
    await page.getByRole('button', { name: 'Meine' }).click()
    await page.getByText('Noch keine Aktivität').waitFor()
    await page.getByRole('button', { name: 'Benachrichtigungen, 2 neu' }).click()
    await page.getByText(/watched\.txt hinzugefügt/).waitFor()
    await tab.checkAccess()
    await tab.picture('notifications-phone-dark')
    await page.getByRole('button', { name: 'Alle als gelesen markieren' }).click()
    await page.getByRole('button', { name: 'Benachrichtigungen', exact: true }).waitFor()
    assert.equal((await ben.get('/api2/unseen_messages/')).body.count, 0)
    assert.deepEqual(tab.complaints, [])
  })

  it('show a bulk upload as one entry, whatever others do meanwhile, and six saves as one change', async (t) => {
    const { ann, ben, library } = await twoPeople()
    await share(ann, library, ben.email)
    const space = new Workspace(suite.server, ann, library)
    await uploadFile(ben, library, '/notes.md', 'notes')
    for (let n = 0; n < 6; n += 1) await uploadFile(ben, library, '/notes.md', `save ${n}`, { replace: true })
    // A client that sends all in one commit, and one that sends a commit for each few files.
    await addMany(suite.server, space, 600, (n) => `scan ${n}.tif`)
    for (let part = 0; part < 20; part += 1) {
      await addMany(suite.server, space, 20, (n) => `photo ${part}-${n}.jpg`)
      if (part === 10) await uploadFile(ben, library, '/notes.md', 'the last', { replace: true })
    }
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/activity')
    await page.getByText('Ann <b>Lee added 1,000 files').waitFor()
    await page.getByText('changed notes.md').waitFor()
    assert.equal(await page.getByText('changed notes.md').count(), 1)
    await page.getByText('and 995 more').click()
    await page.getByRole('link', { name: 'photo 0-0.jpg' }).waitFor()
    await page.getByRole('link', { name: 'and 500 more' }).waitFor()
    await tab.checkAccess()
    await tab.picture('activity-bulk')
    assert.deepEqual(tab.complaints, [])
  })
})
