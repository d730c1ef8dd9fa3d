import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { makeGroup } from '../api/sharing-support.ts'
import { paste } from './sharing-support.ts'
import { PHONE, webSuite } from './support.ts'

/** An extreme name that the server accepts for a group. */
const ODD = "L'Équipe (北) [7] شمال"

describe('groups', () => {
  const suite = webSuite()

  const members = async (id: number) => {
    const { body } = await (await suite.server.admin()).get(`/api/v2.1/admin/groups/${id}/members/`)
    return body.members.map(({ email, role }: { email: string; role: string }) => `${email} ${role}`).sort()
  }

  it('are created, filled with members and libraries, and seen live by their members', async (t) => {
    const owner = await suite.server.signUp({ email: 'otto.owner@example.org' })
    const friend = await suite.server.signUp({ email: 'fiona.friend@example.org' })
    const other = await suite.server.signUp({ email: 'omar.other@example.org' })
    const tab = await suite.openTab(t, owner)
    const theirs = await suite.openTab(t, friend, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined || theirs === undefined) return
    const { page } = tab
    await theirs.go('/groups')
    await theirs.page.getByText('You are not in a group yet').waitFor()
    await theirs.checkAccess()
    await theirs.picture('groups-empty-phone-dark')

    await tab.go('/groups')
    await page.getByRole('button', { name: 'New group' }).click()
    await page.getByLabel('Group name').fill('<script>alert(1)</script>')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('alert').waitFor()
    await tab.checkAccess()
    await page.getByLabel('Group name').fill(ODD)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name: ODD }).waitFor()
    const id = Number(new URL(page.url()).pathname.split('/').at(-1))

    await page.getByRole('button', { name: 'Add members' }).click()
    const adding = page.getByRole('dialog', { name: 'Add members' })
    await paste(adding.getByRole('combobox'), `${friend.email}\n${other.email}`)
    await tab.checkAccess()
    await adding.getByRole('button', { name: 'Add members' }).click()
    await page.getByText(other.email).waitFor()
    assert.deepEqual(await members(id), [
      'fiona.friend@example.org Member',
      'omar.other@example.org Member',
      'otto.owner@example.org Owner',
    ])
    await theirs.page.getByRole('link', { name: ODD }).click()

    await page.getByRole('button', { name: 'New library' }).click()
    await page.getByLabel('Library name').fill('Songs')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'Songs' }).waitFor()
    await theirs.page.getByRole('link', { name: 'Songs' }).waitFor()
    await theirs.picture('group-phone-dark')
    assert.equal(await theirs.page.getByRole('button', { name: 'Add members' }).count(), 0)

    await page.getByRole('button', { name: 'More actions for fiona.friend' }).click()
    await page.getByRole('menuitem', { name: 'Make admin' }).click()
    await page.getByText('Admin', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'More actions for omar.other' }).click()
    await page.getByRole('menuitem', { name: 'Remove from group' }).click()
    await page.getByText('omar.other removed from the group.').waitFor()
    await tab.checkAccess()
    await tab.picture('group')
    assert.deepEqual(await members(id), ['fiona.friend@example.org Admin', 'otto.owner@example.org Owner'])

    await page.getByRole('button', { name: 'More actions for Songs' }).click()
    await page.getByRole('menuitem', { name: 'Stop sharing with this group' }).click()
    await page.getByText('No libraries yet').waitFor()
    await theirs.page.getByText('No libraries yet').waitFor()
    // The name that was rejected on purpose.
    assert.equal(tab.complaints.length, 1)
    assert.deepEqual(theirs.complaints, [])
  })

  it('are renamed, transferred, left and deleted', async (t) => {
    const owner = await suite.server.signUp()
    const heir = await suite.server.signUp({ email: 'hedda.heir@example.org' })
    const id = await makeGroup('Choir', owner, heir)
    const tab = await suite.openTab(t, owner)
    const theirs = await suite.openTab(t, heir)
    if (tab === undefined || theirs === undefined) return
    const { page } = tab
    const menu = async (at: typeof page, name: string) => {
      await at.getByRole('button', { name: 'More actions for this group' }).click()
      await at.getByRole('menuitem', { name }).click()
    }
    await tab.go(`/groups/${id}`)
    await menu(page, 'Rename')
    await page.getByLabel('Group name').fill('Big choir')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { level: 1, name: 'Big choir' }).waitFor()
    await menu(page, 'Transfer ownership')
    const dialog = page.getByRole('dialog', { name: 'Transfer ownership' })
    await dialog.getByLabel('New owner').fill('hedda')
    await dialog.getByRole('option', { name: /hedda/ }).click()
    await dialog.getByRole('button', { name: 'Transfer ownership' }).click()
    await page.getByRole('listitem').filter({ hasText: 'hedda' }).getByText('Owner').waitFor()
    assert.deepEqual(await members(id), [`${heir.email} Owner`, `${owner.email} Member`])
    await menu(page, 'Leave group')
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await page.getByText('You are not in a group yet').waitFor()
    assert.deepEqual(await members(id), [`${heir.email} Owner`])

    await theirs.go(`/groups/${id}`)
    await menu(theirs.page, 'Delete')
    await theirs.checkAccess()
    await theirs.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await theirs.page.getByText('You are not in a group yet').waitFor()
    assert.deepEqual((await heir.get('/api/v2.1/groups/')).body, [])
    await theirs.go(`/groups/${id}`)
    await theirs.page.getByText('Nothing here').waitFor()
  })
})
