import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { uploadLinkTo } from '../api/links-support.ts'
import {
  eventually,
  filePart,
  intoRoot,
  namesIn,
  postForm,
  storedBytes,
  uploadFile,
} from '../support/transfer.ts'
import { webSuite } from './support.ts'
import { write } from './viewer-support.ts'

/** Of the accounts of the test server. */
const PASSWORD = 'a long password'

describe('editing text', () => {
  const suite = webSuite()

  async function start(t: TestContext, path: string, bytes: Uint8Array | string) {
    const space = await Workspace.make(suite.server)
    await uploadFile(space.client, space.id, path, bytes)
    const tab = await suite.openTab(t, space.client)
    await tab?.go(`/view/${space.id}?p=${encodeURIComponent(path)}`)
    const stored = async (at = path) => (await storedBytes(suite.server, space.id, at)).toString()
    const put = (text: string) => uploadFile(space.client, space.id, path, text, { replace: true })
    return { space, tab, stored, put }
  }

  it('starts read-only, and saves with ctrl+S', async (t) => {
    const { tab, stored } = await start(
      t,
      '/src/hello.ts',
      "const greeting = 'hello'\r\nexport { greeting }\r\n",
    )
    if (tab === undefined) return
    const { page } = tab
    await page.getByRole('textbox', { name: 'Content of hello.ts' }).waitFor()
    await page.locator('.cm-line span').first().waitFor()
    await tab.picture('editor-reading')
    await page.getByRole('button', { name: 'Edit' }).click()
    assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true)
    await write(page, '// A first line\n')
    await page.getByText('Unsaved changes').waitFor()
    await tab.checkAccess()
    await tab.picture('editor')
    await page.keyboard.press('Control+s')
    await page.getByText('Saved.').waitFor()
    assert.equal(await stored(), "// A first line\r\nconst greeting = 'hello'\r\nexport { greeting }\r\n")
    await write(page, '// Another\n')
    await page.getByRole('button', { name: 'Save' }).click()
    await eventually(async () => assert.match(await stored(), /^\/\/ Another\r\n\/\/ A first line/))
    // The page knows it later than the server. Until then it asks whether to discard the changes.
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Stop editing' }).click()
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    await page.getByText('// Another').waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('shows the text while the editor loads, and preloads the editor on hover', async (t) => {
    const { space, tab } = await start(t, '/hello.ts', "const greeting = 'hello'\n")
    if (tab === undefined) return
    const { page } = tab
    const editor = /assets\/code-editor-[^/]*\.js/
    const held = Promise.withResolvers<void>()
    await page.route(editor, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.reload()
    await page.locator('.viewer-plain').getByText("const greeting = 'hello'").waitFor()
    assert.equal(await page.locator('.viewer :is(.spinner, .waiting)').count(), 0)
    held.resolve()
    await page.getByRole('textbox', { name: 'Content of hello.ts' }).waitFor()
    assert.equal(await page.locator('.viewer-plain').count(), 0)

    await page.unroute(editor)
    await tab.go(`/library/${space.id}`)
    const fetched = page.waitForRequest(editor)
    await page.getByRole('link', { name: 'hello.ts' }).hover()
    await fetched
    assert.deepEqual(tab.complaints, [])
  })

  it('keeps both versions or replaces the other when another account saved meanwhile', async (t) => {
    const { space, tab, stored, put } = await start(t, '/plan.txt', 'one\ntwo\nthree\n')
    if (tab === undefined) return
    const { page } = tab
    await page.getByRole('button', { name: 'Edit' }).click()
    await write(page, 'mine\n')
    await put('one\nTHEIRS\nthree\n')
    await page.getByText('Someone has changed this file since you opened it').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Someone else changed this file' })
    await dialog.waitFor()
    await dialog.getByRole('button', { name: 'Compare' }).click()
    await dialog.getByText('THEIRS', { exact: true }).waitFor()
    await tab.checkAccess()
    await tab.picture('editor-conflict')
    await dialog.getByRole('button', { name: 'Save mine as a copy' }).click()
    await page.getByText('Saved as plan (1).txt.').waitFor()
    assert.equal(await stored(), 'one\nTHEIRS\nthree\n')
    assert.equal(await stored('/plan (1).txt'), 'mine\none\ntwo\nthree\n')
    // The page continues with the current version.
    await page.getByText('THEIRS', { exact: true }).waitFor()

    await write(page, 'again mine\n')
    await put('theirs once more\n')
    await page.getByText('Someone has changed this file since you opened it').waitFor()
    await page.keyboard.press('Control+s')
    await dialog.getByRole('button', { name: 'Replace theirs' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    assert.equal(await stored(), 'again mine\none\nTHEIRS\nthree\n')

    await write(page, 'lost ')
    await put('the last word\n')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('button', { name: 'Discard mine' }).click()
    await page.getByText('the last word').waitFor()

    // A visitor's file is in the name of whoever created the link.
    await write(page, 'mine ')
    await space.client.delete(space.v21('file/'), { query: { p: '/plan.txt' } })
    const { token } = await uploadLinkTo(space, '/')
    const { upload_link } = (await suite.server.anonymous.get(`/api/v2.1/upload-links/${token}/upload/`)).body
    await postForm(upload_link, [intoRoot, filePart('plan.txt', 'of a visitor')])
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText(`Visitor (link by ${space.client.email.split('@')[0]}) saved it`).waitFor()
    await dialog.getByRole('button', { name: 'Discard mine' }).click()
    await page.getByText('of a visitor').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id), ['plan (1).txt', 'plan.txt'])
    assert.deepEqual(tab.complaints, [])
  })

  it('saves a file again that was deleted meanwhile', async (t) => {
    const { space, tab, stored } = await start(t, '/gone.txt', 'old text')
    if (tab === undefined) return
    const { page } = tab
    await page.getByRole('button', { name: 'Edit' }).click()
    await write(page, 'still here ')
    await space.client.delete(space.v21('file/'), { query: { p: '/gone.txt' } })
    await page.getByText('This file was just renamed, moved or deleted').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Save here again' }).click()
    await page.getByText('Saved as gone.txt.').waitFor()
    assert.equal(await stored(), 'still here old text')
  })

  it('asks before leaving unsaved text, and restores it after going back', async (t) => {
    const { space, tab, stored } = await start(t, '/notes.txt', 'kept')
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${space.id}`)
    await page.getByRole('link', { name: 'Starred' }).click()
    await tab.go(`/view/${space.id}?p=/notes.txt`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await write(page, 'not ')
    await page.getByRole('link', { name: 'Back to folder' }).click()
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
    await dialog.waitFor()
    await tab.checkAccess()
    await tab.picture('editor-leaving')
    await page.keyboard.press('Escape')
    await page.getByText('Unsaved changes').waitFor()

    // The browser's own back button cannot be held up, so nothing may be lost by it.
    await page.getByRole('link', { name: 'Back to folder' }).click()
    await page.keyboard.press('Escape')
    await page.evaluate("history.pushState(null, '', document.baseURI + 'app/activity')")
    await page.getByRole('button', { name: 'Back to file' }).click()
    await page.getByText('Your unsaved changes were restored').waitFor()
    await page.getByText('not kept').waitFor()
    assert.equal(await stored(), 'kept')

    await page.getByRole('link', { name: 'Back to folder' }).click()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.waitForURL(/\/library\//)
    assert.equal(await stored(), 'not kept')
    assert.deepEqual(tab.complaints, [])
  })

  it('keeps unsaved text when the session expires, for the same account only', async (t) => {
    const { space, tab, stored } = await start(t, '/notes.txt', 'kept')
    if (tab === undefined) return
    const { page } = tab
    const stranger = await suite.server.signUp()
    await page.getByRole('button', { name: 'Edit' }).click()
    await write(page, 'not ')
    await space.client.delete('/api/v2.1/sessions/')
    await page.keyboard.press('Control+S')
    await page.getByText('Your session has expired').waitFor()
    const signIn = async (email: string) => {
      await page.getByLabel('Email').fill(email)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await signIn(stranger.email)
    await page.getByText('Nothing here').waitFor()
    assert.equal(await page.getByText('not kept').count(), 0)
    await stranger.delete('/api/v2.1/sessions/')
    await page.getByRole('link', { name: 'Starred' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.evaluate(`history.pushState(null, '', document.baseURI + 'app/view/${space.id}?p=/notes.txt')`)
    await signIn(space.client.email)
    await page.getByText('Your unsaved changes were restored').waitFor()
    await page.getByText('not kept').waitFor()
    await page.keyboard.press('Control+S')
    await eventually(async () => assert.equal(await stored(), 'not kept'))
  })

  it('leaves read-only and binary files alone', async (t) => {
    const { space, tab } = await start(t, '/large.log', `${'x'.repeat(99)}\n`.repeat(30_000))
    if (tab === undefined) return
    const { page } = tab
    await page.getByText('This file is large').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Edit' }).count(), 0)
    await uploadFile(space.client, space.id, '/old.txt', Buffer.from('caf\xe9', 'latin1'))
    await tab.go(`/view/${space.id}?p=/old.txt`)
    await page.getByText('café').waitFor()
    await page.getByText('It is shown as Latin-1.').waitFor()
    await uploadFile(space.client, space.id, '/locked.txt', 'no')
    await space.lockFor('/locked.txt', await suite.server.signUp())
    await tab.go(`/view/${space.id}?p=/locked.txt`)
    await page.getByText('Locked by user').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Edit' }).count(), 0)
    await tab.checkAccess()
    assert.deepEqual(tab.complaints, [])
  })
})
