import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
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

/** A library of ann's with a folder `/team`, and somebody the folder is going to be shared with. */
async function stage() {
  const space = await Workspace.make(server)
  const content = contentOf(server, space.client, space.id)
  await content.addFolder('/team')
  return { space, content, ann: space.client, guest: await server.signUp() }
}

async function rename(space: Workspace, p: string, newname: string): Promise<void> {
  const reply = await space.client.post(space.v21('dir/'), {
    query: { p },
    form: { operation: 'rename', newname },
  })
  assert.equal(reply.status, 200, reply.text)
}

describe('somebody with a folder of a library', () => {
  it('is told live of changes below it, under the id the folder has, as long as it is granted', async () => {
    const { space, content, ann, guest } = await stage()
    const folder = await shareWith(ann, space.id, guest, { path: '/team' })
    const mark = await Workspace.make(server, guest)
    await server.running.services.activity.live.log.settled()
    await using stream = await EventStream.open(guest)
    await stream.nextOf('ready')
    const lock = async (p: string, operation = 'lock') =>
      assert.equal((await ann.put(space.v2('file/'), { form: { p, operation } })).status, 200)
    // Up to a commit in a library of the guest's own, which certainly comes after all others.
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
    assert.deepEqual(await heard(), [], 'the first change elsewhere is not told either')
    await content.addFile('/team/a')
    assert.deepEqual(await heard(), [`commit ${folder}`])
    await lock('/team/a')
    assert.deepEqual(await heard(), [`lock ${folder} /a`])
    await unshare(ann, space.id, guest, '/team')
    await content.addFile('/team/secret')
    await lock('/team/secret')
    assert.deepEqual(await heard(), [])
  })

  it('is not told of what happened before, or to others at its path, when it comes back to the stream', async () => {
    const { space, content, ann, guest } = await stage()
    const { log } = server.running.services.activity.live
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
    assert.ok(commits.length === 2 || commits.length === 3, 'for what was shown, moved, and last')
    assert.deepEqual(
      found.filter((one) => one.startsWith('lock')),
      [`lock ${folder} /shown`, `lock ${folder} /last`],
    )
  })
})
