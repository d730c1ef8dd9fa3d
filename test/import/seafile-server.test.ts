import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { checkServer } from '../support/check.ts'
import { Client } from '../support/client.ts'
import { download } from '../support/encrypted.ts'
import { SEAFILE_DUMP, unpackSeafile } from '../support/seafile-fixture.ts'
import { startServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { fingerprint, importSeafile, temporaryFolder } from './support.ts'

// Of the fixture, whose README says what is in it.
const IDS = {
  docs: '1305236f-68b0-4f19-a868-363a08977e8f',
  plans: 'e21e987c-9890-4eac-8f4f-93591fc47900',
  odd: '0e784692-adbe-4817-a371-5bea22db029d',
  vault: '48f029df-fe59-4b45-862d-29f1db284f17',
  deleted: 'bff2a7be-7cd1-4507-98f8-ac85815d53d9',
  cut: '913a22b0-d698-4411-bd17-2098722233d6',
  template: '863d4048-19cc-421d-8fdc-ee9fc5106206',
}
const LOCKED = {
  '651187e8-59a4-45ae-859e-037f27b3174d': 'a secret of Locked 2\n',
  '44a2fcdc-23fa-4baa-94c9-ca64a0206666': 'a secret of Locked 3\n',
  '822d6924-e376-4e64-a122-9cdc14d6c350': 'a secret of Locked 4\n',
  '563f3425-a401-4dbd-848a-a338ab98212c': 'a secret of Locked argon2\n',
  '54aa02d9-e7cc-40a7-89ab-de2246291174': 'a secret of Locked pbkdf2\n',
  '4de0db34-20f3-4f90-a547-c7924a9955b7': 'after\n',
}
const TOKENS = {
  docs: '7156a2c6180c0972ca195e76c06888a3dc956cd9',
  plans: '042c547d4b5af1779c15a81c6341e3826242e1e6',
  cut: '7828bda8a7254527a69bf44b4e3086364595cba2',
}
const ODD_NAMES = [
  'back\\slash.txt',
  'a:b*?<>|".txt',
  'tab\there.txt',
  'line\nbreak.txt',
  'control\u0001.txt',
  'delete\u007f.txt',
  'c1\u0085.txt',
  'CON',
  'dot.',
  'space ',
  ' lead',
  '.hidden',
  '~$office.docx',
  'über.txt',
  'über (1).txt',
  '😀 & %41.txt',
  'n'.repeat(255),
  `${'n'.repeat(251)}.txt`,
  '大'.repeat(85),
  'unnamed.',
  'rtl\u202e.txt',
  'folder\\of\\windows',
  'con\u0002trol',
  'trailing. ',
  'd'.repeat(255),
]

describe('an import of what a Seafile server wrote', () => {
  it('brings everything over, leaves out the template that nobody owns, and says so before', async () => {
    await using source = await temporaryFolder()
    await unpackSeafile(source.path)
    const before = await fingerprint(source.path)
    await using server = await startServer()
    // Both names are taken here.
    await server.signUp({ email: 'dora@example.org' })
    await (await server.signUp()).post('/api/v2.1/groups/', { form: { name: 'Team' } })
    const run = async (...more: string[]) => {
      const { code, stdout, stderr } = await importSeafile(
        server,
        source.path,
        '--sql',
        SEAFILE_DUMP,
        ...more,
      )
      assert.equal(code, 0, stderr + stdout)
      return JSON.parse(stdout)
    }
    const { dryRun: _, blocks: _found, ...planned } = await run('--dry-run')
    const { dryRun: _not, blocks: _copied, ...report } = await run()
    assert.deepEqual(planned, report, 'the dry run said so')
    assert.deepEqual(await fingerprint(source.path), before, 'the source is unchanged')
    assert.deepEqual(report.problemCounts, {
      'account-kept': 2, // Also the administrator.
      'group-renamed': 1,
      'head-damaged': 1,
      'name-changed': 1,
      'orphaned-objects': 1,
      'template-skipped': 1,
      'token-skipped': 1,
    })
    const { accounts, groups, views, shares, syncTokens } = report
    assert.deepEqual([accounts, groups, views, shares, syncTokens], [3, 2, 2, 7, 4])
    const states = new Map(
      report.libraries.map((one: { id: string; state: string; isDeleted: boolean }) => [
        one.id,
        `${one.state} ${one.isDeleted}`,
      ]),
    )
    assert.equal(states.size, 15)
    assert.equal(states.get(IDS.template), 'skipped false')
    assert.equal(states.get(IDS.deleted), 'imported true')
    assert.deepEqual((await checkServer(server)).findings, [])

    const ann = await Client.signIn(server.url, 'ann@example.org', 'ann secret')
    const bob = await Client.signIn(server.url, 'bob@example.org', 'bob secret')
    const docs = new SyncClient(server.url, IDS.docs, TOKENS.docs, ann.email)
    assert.deepEqual(await digests(docs), {
      '/a.txt': digest('two\n'),
      '/b.txt': digest('beside\n'),
      '/empty': null,
      '/large.bin': 'd620f32a31ce4a5d',
      '/plans': null,
      '/plans/2026': null,
      '/plans/2026/deep': null,
      '/plans/Plan of 2026.md': digest('# Plan\n'),
      '/plans/from bob.txt': digest('written through the shared folder\n'),
      '/zero.txt': digest(''),
    })
    const history = (await ann.get(`/api/v2.1/repos/${IDS.docs}/history/`, { per_page: 100 })).body.data
    assert.equal(history.length, 16)
    const earlier = await Promise.all(
      history.map(async ({ commit_id: id }: { commit_id: string }) => [...(await docs.clone(id)).keys()]),
    )
    assert.ok(earlier.some((paths) => paths.includes('/gone.txt')))
    assert.ok(earlier.some((paths) => paths.includes('/plans/gone.md')))
    const plans = new SyncClient(server.url, IDS.plans, TOKENS.plans, bob.email)
    assert.equal((await digests(plans))['/from bob.txt'], digest('written through the shared folder\n'))
    const cut = new SyncClient(server.url, IDS.cut, TOKENS.cut, ann.email)
    assert.deepEqual(await digests(cut), { '/n.txt': digest('number last\n') })

    const listed = (await ann.get(`/api/v2.1/repos/${IDS.odd}/dir/`, { p: '/' })).body.dirent_list
    assert.deepEqual(listed.map((one: { name: string }) => one.name).sort(), ODD_NAMES.toSorted())
    for (const [id, secret] of Object.entries({ ...LOCKED, [IDS.vault]: undefined })) {
      const opened = await bob.post(`/api/v2.1/repos/${id}/set-password/`, {
        form: { password: 'open sesame' },
      })
      assert.equal(opened.status, 200, `${id} ${opened.text}`)
      if (secret !== undefined) assert.equal(String(await download(bob, id, '/secret.txt')), secret)
    }
    assert.equal(String(await download(bob, IDS.vault, '/deep.txt')), 'a deep secret\n')

    // Named an owner, the template is a library like others.
    const { libraries } = await run('--library', IDS.template, '--owner', ann.email)
    assert.deepEqual(
      libraries.map((one: { state: string; owner: string }) => [one.state, one.owner]),
      [['imported', ann.email]],
    )
    const guide = 'The guide that new libraries start with.\n'
    assert.equal(String(await download(ann, IDS.template, '/guide.md')), guide)
    // A dry run refuses what the import refuses, and sees what is in the trash here.
    const refused = await importSeafile(server, source.path, '--owner', 'nobody@example.org', '--dry-run')
    assert.equal(refused.code, 1, refused.stdout)
    await ann.delete(`/api/v2.1/repos/${IDS.template}/`)
    const again = await run('--dry-run', '--owner', ann.email)
    assert.deepEqual([...new Set(again.libraries.map((one: { state: string }) => one.state))], ['present'])
  })
})

function digest(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16)
}

/** The files of a library by path, with digests of their bytes; null for folders. */
async function digests(sync: SyncClient): Promise<Record<string, string | null>> {
  const files = [...(await sync.clone())].map(([name, bytes]) => [name, bytes && digest(bytes)] as const)
  return Object.fromEntries(files.sort(([a], [b]) => (a < b ? -1 : 1)))
}
