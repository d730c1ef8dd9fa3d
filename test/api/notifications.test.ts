import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { type LibraryPath, ROOT } from '../../src/base/paths/paths.ts'
import { repoShare } from '../../src/derived/activity/notices.ts'
import { MAX_KEPT } from '../../src/derived/activity/notifications.ts'
import { createFile, makeFolder, removeOne } from '../../src/libraries/edits/entries.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { EditableLibrary } from '../../src/libraries/library/library.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { assertError, assertReply, NOON, NOON_TEXT, Workspace } from './folders-support.ts'

const LIST = '/api/v2.1/notifications/'
const ONE = '/api/v2.1/notification/'
const COUNT = '/api2/unseen_messages/'
const ALL = '/api/v2.1/all-notifications/'
const UNKNOWN = '11111111-2222-4333-8444-555555555555'
const NONE = { notification_list: [], unseen_count: 0, count: 0 }
const DAY = 86_400

let clock = NOON
let server: TestServer
before(async () => {
  server = await startServer({ now: () => clock })
})
after(() => server[Symbol.asyncDispose]())

const keyOf = async (client: Client) => (await server.running.services.accounts.get(client.email)).key

/** Like sharing does. */
async function notify(client: Client, from: Client, count = 1): Promise<void> {
  const { activity, core } = server.running.services
  const key = await keyOf(client)
  const library = { id: UNKNOWN as LibraryId, name: 'Plans' }
  const share = { fromEmail: from.email, path: ROOT, permission: 'rw', isHeld: false }
  await dbOf(core).write(async (tx) => {
    for (let n = 0; n < count; n++)
      await activity.notifications.put(tx, [key, key], ...repoShare(library, share))
  })
}

/** An action of another account in a library. No call allows it while a library has one user. */
async function asSomebodyElse(space: Workspace, other: Client) {
  const { access, accounts, core } = server.running.services
  const { info } = await access.open(await accounts.get(space.client.email), space.id as LibraryId)
  return new EditableLibrary(core, info, await accounts.get(other.email), 'rw')
}

describe('notifications', () => {
  it('tell the new owner of a library who transferred it', async () => {
    clock = NOON
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    const space = await Workspace.make(server, ann)
    assertReply(await bob.get(LIST), 200, NONE)
    assert.equal((await ann.put(space.v2('owner/'), { form: { owner: bob.email } })).status, 200)
    const { body } = await bob.get(LIST)
    const [notification] = body.notification_list
    assert.ok(Number.isSafeInteger(notification.id))
    assert.deepEqual(body, {
      notification_list: [
        {
          id: notification.id,
          type: 'repo_transfer',
          detail: {
            repo_id: space.id,
            repo_name: 'Plans',
            transfer_from_user_email: ann.email,
            transfer_from_user_name: ann.email.split('@')[0],
            transfer_from_user_contact_email: ann.email,
            transfer_from_user_avatar_url: `${server.url}/media/avatars/default.png`,
          },
          time: NOON_TEXT,
          seen: false,
        },
      ],
      unseen_count: 1,
      count: 1,
    })
    assertReply(await bob.get(COUNT), 200, { count: 1 })
    assertReply(await bob.get(ALL), 200, { general: body, discussion: NONE })
    assertReply(await ann.get(LIST), 200, NONE)
  })

  it('are marked as seen one by one or all at once, and deleted', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    await notify(bob, ann, 3)
    const [newest, ...older] = (await bob.get(LIST)).body.notification_list
    assertReply(await bob.put(ONE, { form: { notice_id: newest.id } }), 200, { success: true })
    assertReply(await bob.put(ONE, { json: { notice_id: newest.id } }), 200, { success: true })
    const seen = (await bob.get(LIST)).body
    assert.deepEqual(
      seen.notification_list.map((one: { id: number; seen: boolean }) => [one.id, one.seen]),
      [[newest.id, true], ...older.map(({ id }: { id: number }) => [id, false])],
    )
    assert.deepEqual([seen.unseen_count, seen.count], [2, 3])
    assertReply(await bob.get(COUNT), 200, { count: 2 })
    assertReply(await bob.put(LIST), 200, { success: true })
    assertReply(await bob.get(COUNT), 200, { count: 0 })
    await notify(bob, ann)
    assertReply(await bob.put(ALL), 200, { success: true })
    assertReply(await bob.get(COUNT), 200, { count: 0 })
    assertReply(await bob.delete(LIST), 200, { success: true })
    assertReply(await bob.get(LIST), 200, NONE)
  })

  it('reject unknown notifications and those of other accounts', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    await notify(bob, ann)
    const [{ id }] = (await bob.get(LIST)).body.notification_list
    for (const notice_id of [undefined, '', 'x', '1.5', -1, 0, '9'.repeat(20), {}, true]) {
      assertError(
        await bob.put(ONE, { json: { notice_id } }),
        400,
        'notice_id invalid.',
        JSON.stringify(notice_id),
      )
    }
    assertError(await bob.put(ONE, { form: { notice_id: 987_654 } }), 404, 'Notification 987654 not found.')
    assertError(await ann.put(ONE, { form: { notice_id: id } }), 403, 'Permission denied.')
    assertReply(await bob.get(COUNT), 200, { count: 1 })
    for (const path of [LIST, COUNT, ALL]) assert.equal((await server.anonymous.get(path)).status, 403)
  })

  it('are paged, newest first', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    await notify(bob, ann, 30)
    const ids = async (query: Record<string, string | number>) =>
      (await bob.get(LIST, query)).body.notification_list.map(({ id }: { id: number }) => id)
    const all = await ids({ per_page: 100 })
    assert.equal(all.length, 30)
    assert.deepEqual(
      all,
      all.toSorted((a: number, b: number) => b - a),
    )
    assert.deepEqual(await ids({}), all.slice(0, 25))
    assert.deepEqual(await ids({ page: 2 }), all.slice(25))
    assert.deepEqual(await ids({ page: 'x', per_page: -2 }), all.slice(0, 25))
  })

  it('are kept for ninety days, and at most a thousand', async () => {
    clock = NOON
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    await notify(bob, ann, MAX_KEPT + 5)
    assert.equal((await bob.get(LIST)).body.count, MAX_KEPT)
    clock += 91 * DAY
    await notify(bob, ann)
    assert.equal((await bob.get(LIST)).body.count, 1)
    const { activity, core } = server.running.services
    await activity.notifications.deleteOld()
    const left = await dbOf(core).get<{ n: number }>(
      'select count(*) as n from notification where account_key = ?',
      await keyOf(bob),
    )
    assert.equal(left?.n, 1)
    clock = NOON
  })

  it('are deleted with their account', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    await notify(bob, ann)
    const { accounts, core } = server.running.services
    const key = await keyOf(bob)
    await accounts.remove(bob.email, undefined)
    const left = await dbOf(core).get<{ n: number }>(
      'select count(*) as n from notification where account_key = ?',
      key,
    )
    assert.equal(left?.n, 0)
  })
})

describe('watching a library', () => {
  const WATCH = '/api/v2.1/monitored-repos/'

  it('notifies of later changes by others', async () => {
    clock = NOON
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    const space = await Workspace.make(server, ann)
    await makeFolder(await asSomebodyElse(space, bob), '/before' as LibraryPath)
    const watching = {
      user_email: ann.email,
      user_name: ann.email.split('@')[0],
      user_contact_email: ann.email,
      repo_id: space.id,
    }
    assertReply(await ann.post(WATCH, { multipart: { repo_id: space.id } }), 200, watching)
    assertReply(await ann.post(WATCH, { form: { repo_id: space.id } }), 200, watching)
    await space.file('/mine')
    assertReply(await ann.get(COUNT), 200, { count: 0 })
    await createFile(await asSomebodyElse(space, bob), '/theirs' as LibraryPath)
    // A list requested after a write was acknowledged contains it.
    assertReply(await ann.get(COUNT), 200, { count: 1 })
    const { core } = server.running.services
    await removeOne(core, await asSomebodyElse(space, bob), '/mine' as LibraryPath)
    const { notification_list: list } = (await ann.get(LIST)).body
    assert.deepEqual(
      list.map(({ type, detail }: { type: string; detail: Record<string, unknown> }) => [
        type,
        detail['op_type'],
        detail['obj_type'],
        detail['obj_path_list'],
        detail['op_user_email'],
        detail['repo_name'],
      ]),
      [
        ['repo_monitor', 'delete', 'file', ['/mine'], bob.email, 'Plans'],
        ['repo_monitor', 'create', 'file', ['/theirs'], bob.email, 'Plans'],
      ],
    )
    assert.equal(list[0].detail.op_user_name, bob.email.split('@')[0])
    assertReply(await ann.delete(`${WATCH}${space.id}/`), 200, { success: true })
    await createFile(await asSomebodyElse(space, bob), '/later' as LibraryPath)
    assert.equal((await ann.get(LIST)).body.count, 2)
  })

  it('does not notify twice when the feed is rebuilt', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    const space = await Workspace.make(server, ann)
    await ann.post(WATCH, { form: { repo_id: space.id } })
    const library = await asSomebodyElse(space, bob)
    await createFile(library, '/theirs' as LibraryPath)
    assertReply(await ann.get(COUNT), 200, { count: 1 })
    await server.running.services.activity.consumer.reindex((await asSomebodyElse(space, bob)).info)
    assertReply(await ann.get(COUNT), 200, { count: 1 })
  })

  it('does not notify accounts that lost access to the library', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    const space = await Workspace.make(server, ann)
    await ann.post(WATCH, { form: { repo_id: space.id } })
    await ann.put(space.v2('owner/'), { form: { owner: bob.email } })
    await new Workspace(server, bob, space.id).file('/secret')
    assertReply(await ann.get(COUNT), 200, { count: 0 })
    assertReply(await ann.get(LIST), 200, NONE)
  })

  it('is shown in listings', async () => {
    const ann = await server.signUp()
    const space = await Workspace.make(server, ann)
    const shown = async () => [
      (await ann.get('/api/v2.1/repos/')).body.repos[0].monitored,
      (await ann.get(space.v21(''))).body.monitored,
    ]
    assert.deepEqual(await shown(), [false, false])
    await ann.post(WATCH, { form: { repo_id: space.id } })
    assert.deepEqual(await shown(), [true, true])
  })

  it('is rejected for libraries the caller cannot read', async () => {
    const [ann, bob] = [await server.signUp(), await server.signUp()]
    const space = await Workspace.make(server, bob)
    assertError(await ann.post(WATCH), 400, 'repo_id invalid.')
    assertError(await ann.post(WATCH, { form: { repo_id: 'x' } }), 404, 'Library x not found.')
    assertError(await ann.post(WATCH, { form: { repo_id: UNKNOWN } }), 404, `Library ${UNKNOWN} not found.`)
    assertError(await ann.post(WATCH, { form: { repo_id: space.id } }), 403, 'Permission denied.')
    assertError(await ann.delete(`${WATCH}${space.id}/`), 403, 'Permission denied.')
    assertError(await ann.delete(`${WATCH}${UNKNOWN}/`), 404, `Library ${UNKNOWN} not found.`)
  })
})
