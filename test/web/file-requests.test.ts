import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedSpace, uploadLinkTo } from '../api/links-support.ts'
import { namesIn } from '../support/transfer.ts'
import { PHONE, type Tab, webSuite } from './support.ts'

const asked = {
  heading: 'Papers for your tax return',
  name: 'required',
  message: true,
  files: ['Wage statement', 'insurance.pdf'],
  deadline: '2099-05-01T20:00:00Z',
  folder_by_name: true,
}
const file = (name: string) => ({ name, mimeType: 'application/pdf', buffer: Buffer.from(`about ${name}`) })

describe('file requests', () => {
  const suite = webSuite()

  it('are made, listed and changed beside upload links', async (t) => {
    const space = await sharedSpace(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${space.id}`)
    await page.getByRole('row', { name: 'docs' }).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Share', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Share “docs”' })
    await dialog.getByRole('tab', { name: 'Upload link' }).click()
    await dialog.getByLabel('Ask visitors for certain files, or who they are').check()
    await dialog.getByLabel('Heading').fill(asked.heading)
    await dialog.getByLabel('Requested files').fill('Wage statement\n\n insurance.pdf ')
    await dialog.getByLabel('Let visitors write a message').check()
    await dialog.getByLabel('Put the files of each visitor into a folder with their name').check()
    await tab.picture('file-request-new')
    await tab.checkAccess()
    await dialog.getByRole('button', { name: 'Create upload link' }).click()
    const card = dialog.getByRole('listitem').filter({ hasText: asked.heading })
    await card.getByText('2 requested files').waitFor()
    await tab.picture('file-request-made')
    const { request, token } = (await space.client.get('/api/v2.1/upload-links/')).body[0]
    assert.deepEqual(request, { ...asked, deadline: '' })

    await card.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Edit link' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit link' })
    assert.equal(await edit.getByLabel('Requested files').inputValue(), 'Wage statement\ninsurance.pdf')
    await edit.getByLabel('Name of the visitor').selectOption('optional')
    assert.ok(await edit.getByLabel('Put the files of each visitor').isDisabled())
    await edit.getByRole('button', { name: 'Save' }).click()
    await edit.waitFor({ state: 'detached' })
    const changed = (await space.client.get(`/api/v2.1/upload-links/${token}/`)).body.request
    assert.deepEqual(changed, { ...request, name: 'optional', folder_by_name: false })
    assert.deepEqual(tab.complaints, [])
  })

  it('are answered on a phone, by who and with what they ask, and announced to the owner', async (t) => {
    const space = await sharedSpace(suite.server)
    const { link } = await uploadLinkTo(space, '/docs', { request: asked })
    const visitor = await suite.openTab(t, undefined, PHONE)
    const owner = await suite.openTab(t, space.client)
    if (visitor === undefined || owner === undefined) return
    const { page } = visitor
    await page.goto(link)
    await page.getByRole('heading', { name: asked.heading }).waitFor()
    await fitsWidth(visitor)
    await visitor.checkAccess()
    await visitor.picture('file-request-phone')
    const send = page.getByRole('button', { name: 'Send files' })
    const status = page.getByRole('status')

    await page.getByLabel('Your name').fill('Ann Lee')
    await page.getByLabel('Message').fill('The rest follows.')
    await send.click()
    await status.getByText('Select the files first.').waitFor()
    await page.getByLabel('Select a file: Wage statement').setInputFiles(file('scan 7.pdf'))
    await page.getByLabel('Select files').setInputFiles([file('letter.pdf'), file('mistake.pdf')])
    await page.getByRole('button', { name: 'Remove mistake.pdf' }).click()
    await visitor.picture('file-request-phone-chosen')
    await visitor.checkAccess()
    assert.deepEqual(await namesIn(space.client, space.id, '/docs'), ['a.txt', 'sub/'], 'nothing is sent yet')
    await send.click()
    await status.getByText('Not selected yet: insurance.pdf.').waitFor()
    await send.click()
    await status.getByText('Thank you. Your files have arrived.').waitFor()
    await visitor.picture('file-request-phone-sent')
    assert.deepEqual(await namesIn(space.client, space.id, '/docs/Ann Lee'), ['letter.pdf', 'scan 7.pdf'])
    assert.deepEqual(visitor.complaints, [])

    await owner.go('/')
    await owner.page.getByRole('button', { name: 'Notifications, 2 new' }).click()
    const notice = owner.page.getByRole('button', { name: /Ann Lee sent scan 7\.pdf to Ann Lee/ })
    await notice.getByText('The rest follows.').waitFor()
    await owner.picture('file-request-notification')
  })

  it('need the name before anything is sent', async (t) => {
    const space = await sharedSpace(suite.server)
    const { link } = await uploadLinkTo(space, '/docs', { request: { ...asked, files: [] } })
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    await page.goto(link)
    await page.getByLabel('Select files').setInputFiles(file('one.pdf'))
    await page.getByRole('button', { name: 'Send files' }).click()
    assert.equal(await page.evaluate('document.activeElement.matches("#visitor:invalid")'), true)
    assert.deepEqual(await namesIn(space.client, space.id, '/docs'), ['a.txt', 'sub/'])
    await page.getByLabel('Your name').fill('Bob')
    await page.keyboard.press('Enter')
    await page.getByText('Thank you. Your files have arrived.').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id, '/docs/Bob'), ['one.pdf'])
  })

  async function fitsWidth({ page }: Tab): Promise<void> {
    const beyond = Number(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    )
    assert.ok(beyond <= 0, `${beyond} pixels too wide`)
  }
})
