import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { EventStream } from '../support/event-stream.ts'
import { contentOf } from '../support/library-content.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { Workspace } from './folders-support.ts'
import { shareWith, unshare } from './sharing-support.ts'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

/** A library of ann with a folder `/team`, and the account the folder will be shared with. */
async function stage() {
  const space = await Workspace.make(server)
  const content = contentOf(server, space.client, space.id)
  await content.addFolder('/team')
  return { space, content, ann: space.client, guest: await server.signUp() }
}

/** The feed of an account: operation, path and library of each row. */
async function feedOf(client: Client, query: Record<string, string | number> = {}): Promise<string[]> {
  const reply = await client.get('/api/v2.1/activities/', query)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.events.map((one: Record<string, string>) =>
    [one['op_type'], one['path'], one['repo_id'], one['repo_name'], one['old_path']].join(' ').trim(),
  )
}

async function move(space: Workspace, p: string, dst_dir: string, kind: 'file' | 'dir' = 'file') {
  const reply =
    kind === 'file'
      ? await space.client.post(space.v21('file/'), {
          query: { p },
          form: { operation: 'move', dst_repo: space.id, dst_dir },
        })
      : await space.client.post('/api/v2.1/repos/sync-batch-move-item/', {
          json: {
            src_repo_id: space.id,
            src_parent_dir: p.slice(0, p.lastIndexOf('/')) || '/',
            src_dirents: [p.slice(p.lastIndexOf('/') + 1)],
            dst_repo_id: space.id,
            dst_parent_dir: dst_dir,
          },
        })
  assert.equal(reply.status, 200, reply.text)
}

async function rename(space: Workspace, p: string, newname: string): Promise<void> {
  const reply = await space.client.post(space.v21('dir/'), {
    query: { p },
    form: { operation: 'rename', newname },
  })
  assert.equal(reply.status, 200, reply.text)
}

describe('the recipient of a shared folder', () => {
  it('sees the changes below the folder in the feed, and no others', async () => {
    const { space, content, ann, guest } = await stage()
    const folder = await shareWith(ann, space.id, guest, { path: '/team' })
    await content.addFolder('/teams')
    await content.addFile('/team/a')
    await content.addFile('/teams/secret')
    await content.putFile('/x', 3, '3')
    await move(space, '/x', '/team')
    await move(space, '/team/x', '/teams')
    for (let n = 0; n < 60; n++) await content.addFile(`/noise${n}`)
    const expected = [`delete /x ${folder} team`, `create /x ${folder} team`, `create /a ${folder} team`]
    assert.deepEqual(await feedOf(guest), expected)
    assert.deepEqual(await feedOf(guest, { page: 2, per_page: 1 }), expected.slice(1, 2))
    await unshare(ann, space.id, guest, '/team')
    assert.deepEqual(await feedOf(guest), [])
  })

  it('sees nothing from before the folder was shared', async () => {
    const { space, content, ann, guest } = await stage()
    await content.addFile('/team/secret plan')
    await space.client.delete(space.v21('file/'), { query: { p: '/team/secret plan' } })
    await content.addFile('/team/kept')
    const folder = await shareWith(ann, space.id, guest, { path: '/team' })
    assert.deepEqual(await feedOf(guest), [])
    await content.addFile('/team/new')
    assert.deepEqual(await feedOf(guest), [`create /new ${folder} team`])
    // A new share starts a new feed.
    await unshare(ann, space.id, guest, '/team')
    await content.addFile('/team/in between')
    const again = await shareWith(ann, space.id, guest, { path: '/team' })
    assert.deepEqual(await feedOf(guest), [])
    await content.addFile('/team/last')
    assert.deepEqual(await feedOf(guest), [`create /last ${again} team`])
  })

  it('sees nothing of another folder at the same path, and keeps the changes made at the old path', async () => {
    const { space, content, ann, guest } = await stage()
    const folder = await shareWith(ann, space.id, guest, { path: '/team' })
    await content.addFile('/team/early')
    await content.addFolder('/place')
    await content.addFile('/place/secret')
    await rename(space, '/place', 'private')
    await content.addFile('/private/more')
    await rename(space, '/team', 'place')
    await content.addFile('/place/late')
    // Another folder now has the old path.
    await content.addFolder('/team')
    await content.addFile('/team/hidden')
    assert.deepEqual(await feedOf(guest), [`create /late ${folder} place`, `create /early ${folder} place`])
    // The same for a parent folder.
    await content.addFolder('/outer')
    await content.addFolder('/outer/place')
    await content.addFile('/outer/place/secret')
    await rename(space, '/outer', 'outer old')
    await content.addFolder('/outer')
    await move(space, '/place', '/outer', 'dir')
    await content.addFile('/outer/place/last')
    assert.deepEqual(await feedOf(guest), [
      `create /last ${folder} place`,
      `create /late ${folder} place`,
      `create /early ${folder} place`,
    ])
  })

  it('receives live events of changes below the folder, under its view id, while the share lasts', async () => {
    const { space, content, ann, guest } = await stage()
    const folder = await shareWith(ann, space.id, guest, { path: '/team' })
    const mark = await Workspace.make(server, guest)
    await server.running.services.activity.live.log.settled()
    await using stream = await EventStream.open(guest)
    await stream.nextOf('ready')
    const lock = async (p: string, operation = 'lock') =>
      assert.equal((await ann.put(space.v2('file/'), { form: { p, operation } })).status, 200)
    // Up to a commit in the guest's own library, which is later than all others.
    const heard = async () => {
      await server.running.services.activity.live.log.settled()
      await mark.file(`/${randomUUID()}`)
      const found: string[] = []
      for (;;) {
        const next = await stream.next()
        assert.ok(next)
        if (next.data.repo_id === mark.id) return found
        if (next.data.repo_id !== undefined) {
          found.push(`${next.event} ${next.data.repo_id} ${next.data.path ?? ''}`.trim())
        }
      }
    }
    await content.addFile('/elsewhere')
    await lock('/elsewhere')
    assert.deepEqual(await heard(), [], 'no event for the first change elsewhere either')
    await content.addFile('/team/a')
    assert.deepEqual(await heard(), [`commit ${folder}`])
    await lock('/team/a')
    assert.deepEqual(await heard(), [`lock ${folder} /a`])
    await unshare(ann, space.id, guest, '/team')
    await content.addFile('/team/secret')
    await lock('/team/secret')
    assert.deepEqual(await heard(), [])
  })

  it('receives no earlier events, and none of others at its path, after reconnecting to the stream', async () => {
    const { space, content, ann, guest } = await stage()
    const { activity, db } = server.running.services
    const { log } = activity.live
    const lock = async (p: string) =>
      assert.equal((await ann.put(space.v2('file/'), { form: { p, operation: 'lock' } })).status, 200)
    await log.settled()
    const since = log.last
    await content.addFile('/team/before')
    await lock('/team/before')
    await log.settled()
    await content.addFolder('/place')
    await content.addFile('/place/secret')
    await lock('/place/secret')
    await log.settled()
    await rename(space, '/place', 'private')
    const folder = await shareWith(ann, space.id, guest, { path: '/team' })
    await log.settled()
    await content.addFile('/team/shown')
    await lock('/team/shown')
    await log.settled()
    await rename(space, '/team', 'place')
    await log.settled()
    await content.addFile('/elsewhere')
    await log.settled()
    await content.addFile('/place/last')
    await log.settled()
    await lock('/place/last')
    await log.settled()
    await using stream = await EventStream.open(guest, { query: `?since=${since}` })
    const found: string[] = []
    while (found.at(-1) !== `lock ${folder} /last`) {
      const next = await stream.next()
      assert.ok(next)
      if (next.data.repo_id !== undefined) {
        found.push(`${next.event} ${next.data.repo_id} ${next.data.path ?? ''}`.trim())
      }
    }
    const commits = found.filter((one) => one.startsWith('commit'))
    // A head is logged again if the node that made it may not have processed it.
    const logged = await db.all<{ event: string }>('select event from live_event where id > ?', since)
    const heads = logged.map(({ event }) => JSON.parse(event).commitId).filter((head) => head !== undefined)
    const repeated = heads.length - new Set(heads).size
    assert.ok(
      commits.length === 2 || (commits.length >= 3 && commits.length <= 3 + repeated),
      `one event each for shown, moved and last: ${found.join(', ')}`,
    )
    assert.deepEqual(
      found.filter((one) => one.startsWith('lock')),
      [`lock ${folder} /shown`, `lock ${folder} /last`],
    )
  })

  it('is notified of changes below the folder when watching it', async () => {
    const { space, content, ann, guest } = await stage()
    const folder = await shareWith(ann, space.id, guest, { path: '/team' })
    const watched = await guest.post('/api/v2.1/monitored-repos/', { form: { repo_id: folder } })
    assert.equal(watched.status, 200, watched.text)
    await content.addFile('/secret')
    await content.addFile('/team/a')
    const told = async () => {
      const { notification_list: list } = (await guest.get('/api/v2.1/notifications/')).body
      return list
        .filter(({ type }: { type: string }) => type === 'repo_monitor')
        .map(({ detail }: { detail: Record<string, unknown> }) => [
          detail['repo_id'],
          detail['repo_name'],
          detail['obj_path_list'],
        ])
    }
    assert.deepEqual(await told(), [[folder, 'team', ['/a']]])
    await unshare(ann, space.id, guest, '/team')
    assert.deepEqual(await told(), [], 'an inaccessible library is no longer named')
  })
})
