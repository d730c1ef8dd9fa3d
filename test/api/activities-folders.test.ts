import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Access } from '../../src/access/access.ts'
import type { Readable } from '../../src/access/readable.ts'
import { Feed } from '../../src/activity/feed.ts'
import { LocalEventHub } from '../../src/activity/hub.ts'
import { LiveStreams } from '../../src/activity/live-streams.ts'
import { MonitoredLibraries } from '../../src/activity/monitored.ts'
import type { LibraryId } from '../../src/objects/ids.ts'
import type { LibraryPath } from '../../src/objects/paths.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { Workspace } from './folders-support.ts'

const FOLDER = '22222222-2222-4333-8444-555555555555'
let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

/** A library of ann's, and what somebody may see of it who was given its folder `/team`. */
async function stage() {
  const space = await Workspace.make(server)
  const guest = await server.signUp()
  const { access, accounts } = server.running.services
  const { info } = await access.open(await accounts.get(space.client.email), space.id as LibraryId)
  let granted: Readable[] = [
    {
      id: FOLDER as LibraryId,
      name: 'team',
      ownerKey: info.ownerKey,
      encrypted: false,
      permission: 'r',
      via: 'shared',
      libraryKey: info.key,
      base: '/team' as LibraryPath,
    },
  ]
  // Sharing is not part of this: only what it grants is.
  const door = { listReadable: async () => granted } as unknown as Access
  return {
    space,
    content: contentOf(server, space.client, space.id),
    door,
    account: await accounts.get(guest.email),
    info,
    take: () => {
      granted = []
    },
  }
}

describe('somebody with a folder of a library', () => {
  it('finds in the feed what happens below it, and nothing else', async () => {
    const { space, content, door, account, take } = await stage()
    await content.addFolder('/team')
    await content.addFolder('/teams')
    await content.addFile('/team/a')
    await content.addFile('/teams/secret')
    await content.putFile('/x', 3, '3')
    const move = (p: string, dst_dir: string) =>
      space.client.post(space.v21('file/'), {
        query: { p },
        form: { operation: 'move', dst_repo: space.id, dst_dir },
      })
    assert.equal((await move('/x', '/team')).status, 200)
    assert.equal((await move('/team/x', '/teams')).status, 200)
    for (let n = 0; n < 60; n++) await content.addFile(`/noise${n}`)
    const { core, activity } = server.running.services
    const feed = new Feed(core.db, door, activity.follower)
    const list = async (limit: number, skip = 0) =>
      (await feed.list(account, { author: undefined, skip, limit })).map((item) =>
        [item.op, item.path, item.libraryId, item.libraryName, item.oldPath].join(' '),
      )
    const expected = [`delete /x ${FOLDER} team `, `create /x ${FOLDER} team `, `create /a ${FOLDER} team `]
    assert.deepEqual(await list(25), expected)
    assert.deepEqual(await list(1, 1), expected.slice(1, 2))
    take()
    assert.deepEqual(await list(25), [])
  })

  it('is told live of changes below it, under the id the folder has, as long as it is granted', async () => {
    const { content, door, account, info, take } = await stage()
    await content.addFolder('/team')
    const { core, activity } = server.running.services
    // The server writes into the same log, a little later: what it has to say of before must not come after.
    await activity.live.log.settled()
    const hub = new LocalEventHub()
    const onError = (error: unknown) => assert.fail(String(error))
    await using live = new LiveStreams({ core, access: door, hub, now: core.now, onError })
    await live.start()
    const stream = await live.open(account, {
      since: undefined,
      ready: () => 'ready',
      reset: () => 'reset',
      alive: () => 'alive',
      render: ({ event, view }) => ` ${event.kind} ${view?.readable.id ?? ''} ${view?.path ?? ''}`,
      isSignedIn: async () => true,
    })
    core.onHeadMoved(({ key, id, head, root, modifier, updatedAt: at }) => {
      if (key !== info.key) return
      hub.publish({
        kind: 'commit',
        libraryKey: key,
        libraryId: id,
        commitId: head,
        root,
        author: modifier,
        at,
      })
    })
    const lock = (path: string) =>
      hub.publish({
        kind: 'lock',
        libraryKey: info.key,
        libraryId: info.id,
        path: path as LibraryPath,
        locked: true,
        author: 'ann@example.org',
      })
    const heard = async () => {
      await live.log.settled()
      hub.publish({ kind: 'notification', accountKey: account.key, id: 1, type: 'end' })
      await live.log.settled()
      let text = ''
      while (!text.includes('notification')) text += String((await stream.next()).value)
      return text.replace(/ notification .*/, '').trim()
    }
    await content.addFile('/team/a')
    assert.equal(await heard(), `ready commit ${FOLDER}`)
    await content.addFile('/elsewhere')
    lock('/elsewhere')
    lock('/team')
    assert.equal(await heard(), '')
    lock('/team/a')
    assert.equal(await heard(), `lock ${FOLDER} /a`)
    take()
    hub.publish({ kind: 'access', accountKey: account.key })
    assert.equal(await heard(), 'access')
    await content.addFile('/team/secret')
    lock('/team/secret')
    assert.equal(await heard(), '')
    stream.end()
  })

  it('is notified of changes below it if it watches it', async () => {
    const { content, door, account, info } = await stage()
    const { core, accounts, activity } = server.running.services
    const { db } = core
    const monitored = new MonitoredLibraries({
      db,
      access: door,
      accounts,
      notifications: activity.notifications,
    })
    await monitored.add(account, info)
    activity.follower.onCommits(async (library, commits) =>
      library.key === info.key ? monitored.tell(library, commits) : undefined,
    )
    await content.addFolder('/team')
    await content.addFile('/secret')
    await content.addFile('/team/a')
    await activity.follower.catchUp([info.key])
    const { notifications } = await activity.notifications.list(account.key, { skip: 0, limit: 10 })
    assert.deepEqual(
      notifications.map(({ detail }) => [detail['repo_id'], detail['repo_name'], detail['obj_path_list']]),
      [[FOLDER, 'team', ['/a']]],
    )
  })
})
