import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { claimMail, endMail, insertMail, setRetry } from '../../src/people/mail/mail-store.ts'
import { makeFolder } from '../api/sharing-support.ts'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { ADMIN, startServer, type TestServerOptions } from '../support/server.ts'
import { type SmtpReceiver, startSmtpReceiver } from '../support/smtp-receiver.ts'
import { testCertificates } from '../support/test-certificates.ts'

const mailSettings = (port: number, login = '', host = '127.0.0.1', query = '') => ({
  CARREL_MAIL_URL: `smtp://${login}${host}:${port}${query}`,
  CARREL_MAIL_FROM: 'Carrel <carrel@files.example.org>',
  CARREL_PUBLIC_URL: 'https://files.example.org',
})

/** A server that sends mail, with a clock that stands still until it is moved. */
async function startWithMail(smtp: SmtpReceiver, options: TestServerOptions = {}) {
  let time = 1_800_000_000
  const server = await startServer({
    now: () => time,
    ...options,
    env: { ...mailSettings(smtp.port), ...options.env },
  })
  return {
    ...server,
    outbox: server.running.services.outbox,
    /** Moves the clock, and waits until nothing is due. */
    async after(seconds: number) {
      time += seconds
      await server.running.services.outbox.settled()
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const tokenIn = (text: string) => /#([\w-]{43})/.exec(text)?.[1] ?? assert.fail(`no token in ${text}`)

describe('mail', () => {
  it('sends a test mail with all headers, as text and as HTML', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const reply = await (await server.admin()).post('/api/v2.1/admin/test-mail/')
    assert.deepEqual(reply.body, { sent: true, to: ADMIN.email, error: null })
    const [mail] = await smtp.arrived(1)
    assert.ok(mail)
    assert.equal(mail.from, 'carrel@files.example.org')
    assert.deepEqual(mail.to, [ADMIN.email])
    assert.equal(mail.headers.get('subject'), 'Test mail from Carrel')
    assert.equal(mail.headers.get('auto-submitted'), 'auto-generated')
    assert.match(mail.headers.get('message-id') ?? '', /^<[\w-]+@files\.example\.org>$/)
    assert.match(mail.text, /Mail works/)
    assert.match(mail.html, /Mail works/)
  })

  it('says in words why the mail server refused, without the password', async () => {
    await using smtp = await startSmtpReceiver({
      authOptional: false,
      allowInsecureAuth: true,
      authMethods: ['PLAIN'],
      onAuth: (auth, _session, done) => done(new Error(`no such ${auth.username} with ${auth.password}`)),
    })
    await using server = await startWithMail(smtp, { env: mailSettings(smtp.port, 'post:s3cret%21@') })
    const { body } = await (await server.admin()).post('/api/v2.1/admin/test-mail/')
    assert.equal(body.sent, false)
    assert.match(body.error, /refused the sign-in.*535/)
    assert.doesNotMatch(body.error, /s3cret/)
  })

  it('encrypts with STARTTLS, and sends no password without it', async () => {
    const { certificate: cert, key } = testCertificates.one
    const signedIn: string[] = []
    await using smtp = await startSmtpReceiver({
      key,
      cert,
      authOptional: false,
      onAuth(auth, session, done) {
        assert.ok(session.secure)
        signedIn.push(`${auth.username}:${auth.password}`)
        done(null, { user: auth.username })
      },
    })
    await using server = await startWithMail(smtp, {
      env: mailSettings(smtp.port, 'post:secret@', 'localhost', '?ca=ca.pem'),
    })
    await writeFile(path.join(server.data, 'ca.pem'), cert)
    const admin = await server.admin()
    assert.deepEqual((await admin.post('/api/v2.1/admin/test-mail/')).body.error, null)
    assert.deepEqual(signedIn, ['post:secret'])

    await using unknown = await startWithMail(smtp, {
      env: mailSettings(smtp.port, 'post:secret@', 'localhost'),
    })
    const refused = await (await unknown.admin()).post('/api/v2.1/admin/test-mail/')
    assert.match(refused.body.error, /certificate/)
    assert.equal(signedIn.length, 1)
  })

  it('tries again later with the same Message-ID when the mail server is busy', async () => {
    const ids: (string | undefined)[] = []
    await using smtp = await startSmtpReceiver({
      refuse({ headers }) {
        ids.push(headers.get('message-id'))
        if (ids.length === 1) throw Object.assign(new Error('try later'), { responseCode: 451 })
      },
    })
    await using server = await startWithMail(smtp)
    const admin = await server.admin()
    await server.signUp({ email: 'ann@example.org' })
    await server.anonymous.post('/api/v2.1/password-reset/', { form: { email: 'ann@example.org' } })
    await server.after(0)
    assert.equal(smtp.received.length, 0)
    const status = await admin.get('/api/v2.1/admin/status/')
    assert.partialDeepStrictEqual(status.body.mail, { configured: true, waiting: 1, failed_24h: 0 })
    assert.match(status.body.mail.last_error, /451/)
    await server.after(60)
    assert.equal(smtp.received.length, 1)
    assert.equal(ids[0], ids[1])
    assert.equal((await admin.get('/api/v2.1/admin/status/')).body.mail.waiting, 0)
  })

  it('leaves a mail to the process that has taken it over from one that stood still', async () => {
    await using server = await startServer()
    const { db } = server.running.services
    await db.write((tx) => insertMail(tx, { id: 'taken-over', kind: 'test' }, { now: 1000, nextAt: 1000 }))
    const { key } = (await db.get<{ key: number }>('select key from mail')) ?? assert.fail()
    const stalled = (await db.write((tx) => claimMail(tx, key, 1000, 1180))) ?? assert.fail()
    const taken = (await db.write((tx) => claimMail(tx, key, 1180, 1360))) ?? assert.fail()
    await db.write((tx) => setRetry(tx, stalled, 'it stood still', 1200))
    await db.write((tx) => endMail(tx, stalled, { state: 'failed', error: 'it stood still', now: 1200 }))
    assert.equal(await db.write((tx) => claimMail(tx, key, 1300, 1500)), undefined, 'still leased')
    await db.write((tx) => endMail(tx, taken, { state: 'sent', error: '', now: 1300 }))
    assert.deepEqual(await db.get('select attempts, error, finished_at from mail'), {
      attempts: 1,
      error: '',
      finished_at: 1300,
    })
  })

  it('gives up at once when the recipient is refused for good', async () => {
    await using smtp = await startSmtpReceiver({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('no such user'), { responseCode: 550 })),
    })
    await using server = await startWithMail(smtp)
    await server.signUp({ email: 'gone@example.org' })
    await server.anonymous.post('/api/v2.1/password-reset/', { form: { email: 'gone@example.org' } })
    await server.after(0)
    const { mail } = (await (await server.admin()).get('/api/v2.1/admin/status/')).body
    assert.partialDeepStrictEqual(mail, { waiting: 0, failed_24h: 1 })
    assert.match(mail.last_error, /550/)
  })

  it('sends what was queued before kill -9', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-mail-'))
    try {
      // A mail server that takes the mail and never answers.
      await using mute = await startSmtpReceiver({ neverAnswers: true })
      const first = await spawnServer(data, mailSettings(mute.port))
      const asked = await new Client(first.url).post('/api/v2.1/password-reset/', {
        form: { email: ADMIN.email },
      })
      assert.equal(asked.status, 200)
      const [before] = await mute.arrived(1)
      await first.kill()
      // As after the three minutes of the lease.
      const db = new DatabaseSync(path.join(data, 'carrel.db'))
      db.exec('update mail set claimed_until = 0')
      db.close()
      await using smtp = await startSmtpReceiver()
      await using _second = await spawnServer(data, mailSettings(smtp.port))
      const [mail] = await smtp.arrived(1)
      assert.deepEqual(mail?.to, [ADMIN.email])
      assert.equal(mail.headers.get('message-id'), before?.headers.get('message-id'))
      assert.equal(tokenIn(mail.text), tokenIn(before?.text ?? ''))
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})

describe('a forgotten password', () => {
  it('is replaced once through the link in the mail, which ends all sessions', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const ann = await server.signUp({ email: 'ann@example.org' })
    const ask = (email: string) =>
      server.anonymous.post('/api/v2.1/password-reset/', {
        form: { email },
        headers: { 'Accept-Language': 'de' },
      })
    const [known, unknown] = [await ask('ann@example.org'), await ask('nobody@example.org')]
    assert.deepEqual([known.status, known.text], [unknown.status, unknown.text])
    await server.after(0)
    assert.equal(smtp.received.length, 1)
    const mail = smtp.received[0]!
    assert.equal(mail.headers.get('subject'), 'Neues Passwort wählen')
    const token = tokenIn(mail.text)
    assert.match(mail.text, /https:\/\/files\.example\.org\/app\/set-password#/)
    const check = await server.anonymous.post('/api/v2.1/password-reset/check/', { form: { token } })
    assert.deepEqual(check.body, { email: 'ann@example.org', purpose: 'password-reset' })
    const confirm = (password: string) =>
      server.anonymous.post('/api/v2.1/password-reset/confirm/', { form: { token, new_password: password } })
    // What is refused does not use the link up. The name of the account is among the common ones.
    for (const [password, message] of [
      ['Tv9!mq2', 'Password must have at least 8 characters.'],
      ['Summer2026!', 'Password is too common.'],
      ['annannann', 'Password is too common.'],
    ] as const) {
      const { status, body } = await confirm(password)
      assert.deepEqual([status, body], [400, { error_msg: message }])
    }
    assert.equal((await confirm('a new password')).status, 200)
    assert.equal((await ann.get('/api2/account/info/')).status, 401)
    assert.equal((await confirm('another password')).status, 400)
    await Client.signIn(server.url, 'ann@example.org', 'a new password')
  })

  it('is answered before its mail is queued, so that the time does not tell which accounts exist', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    await server.signUp({ email: 'ann@example.org' })
    const { outbox } = server
    const answered = Promise.withResolvers<void>()
    const count = outbox.countOfDay.bind(outbox)
    outbox.countOfDay = async (...args) => {
      await answered.promise
      return count(...args)
    }
    const timer = setTimeout(() => answered.reject(new Error('the response waited for its mail')), 60_000)
    const reply = await server.anonymous.post('/api/v2.1/password-reset/', {
      form: { email: 'ann@example.org' },
    })
    clearTimeout(timer)
    answered.resolve()
    assert.equal(reply.status, 200)
    await server.after(0)
    assert.equal(smtp.received.length, 1)
  })

  it('causes no work for an account that a request right after it would wait for', async (t) => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const { accounts, accountTokens, db } = server.running.services
    for (const name of ['ann', 'bob']) await server.signUp({ email: `${name}@example.org` })
    await accounts.update('bob@example.org', { active: false }, undefined)
    // Calls of background work, which has another context, are not counted.
    const counting = new AsyncLocalStorage<string[]>()
    for (const method of ['all', 'get', 'write'] as const) {
      const original = db[method].bind(db) as (...args: unknown[]) => unknown
      t.mock.method(db, method, (...args: unknown[]) => {
        counting.getStore()?.push(method)
        return original(...args)
      })
    }
    for (const name of ['ann', 'bob', 'nobody']) {
      const calls: string[] = []
      await counting.run(calls, () =>
        accountTokens.requestReset(`${name}@example.org`, undefined, '192.0.2.7'),
      )
      assert.deepEqual(calls, ['all', 'write'], name)
    }
    await server.after(0)
    assert.equal(smtp.received.length, 1)
  })

  it('is throttled by name, and still after a restart', async () => {
    await using smtp = await startSmtpReceiver()
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-mail-'))
    const env = { ...mailSettings(smtp.port), CARREL_RATE_LIMIT: 'on' }
    const ask = async (url: string, email: string) =>
      (await new Client(url).post('/api/v2.1/password-reset/', { form: { email } })).status
    try {
      {
        await using server = await startServer({ data, env })
        for (let n = 0; n < 10; n++) assert.equal(await ask(server.url, 'nobody@example.org'), 200)
        assert.equal(await ask(server.url, 'Nobody@example.org'), 429)
      }
      await using server = await startServer({ data, env })
      assert.equal(await ask(server.url, 'nobody@example.org'), 429)
      assert.equal(await ask(server.url, 'somebody@example.org'), 200)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })

  it('ends with an hour, with a newer link, and with a change of the password', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const ann = await server.signUp({ email: 'ann@example.org' })
    const ask = async () => {
      await server.anonymous.post('/api/v2.1/password-reset/', { form: { email: 'ann@example.org' } })
      await server.after(0)
      return tokenIn(smtp.received.at(-1)?.text ?? '')
    }
    const status = async (token: string) =>
      (await server.anonymous.post('/api/v2.1/password-reset/check/', { form: { token } })).status
    const older = await ask()
    const newer = await ask()
    assert.deepEqual([await status(older), await status(newer)], [400, 200])
    const form = { old_password: 'a long password', new_password: 'a longer password' }
    assert.equal((await ann.post('/api/v2.1/user/reset-password/', { form })).status, 200)
    assert.equal(await status(newer), 400)
    const late = await ask()
    await server.after(3600)
    assert.equal(await status(late), 400)
    // Nobody can fill a mailbox.
    for (let round = 0; round < 5; round += 1) await ask()
    assert.equal(smtp.received.length, 5)
  })

  it('is not mailed without a mail server', async () => {
    await using server = await startServer()
    const reply = await server.anonymous.post('/api/v2.1/password-reset/', { form: { email: ADMIN.email } })
    assert.equal(reply.status, 400)
  })
})

describe('an invitation', () => {
  it('lets a new user choose the password', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const admin = await server.admin()
    const made = await admin.post('/api/v2.1/admin/users/', {
      form: { email: 'new@example.org', invite: 'true' },
    })
    assert.equal(made.status, 200, made.text)
    await server.after(0)
    const token = tokenIn(smtp.received[0]?.text ?? '')
    const form = { token, new_password: 'chosen by me' }
    assert.equal((await server.anonymous.post('/api/v2.1/password-reset/confirm/', { form })).status, 200)
    await Client.signIn(server.url, 'new@example.org', 'chosen by me')
  })

  it('is not sent to an account that was disabled meanwhile', async () => {
    await using smtp = await startSmtpReceiver({
      refuse() {
        throw Object.assign(new Error('later'), { responseCode: 451 })
      },
    })
    await using server = await startWithMail(smtp)
    const admin = await server.admin()
    await admin.post('/api/v2.1/admin/users/', { form: { email: 'new@example.org', invite: 'true' } })
    await server.after(0)
    await admin.put('/api/v2.1/admin/users/new@example.org/', { form: { is_active: 'false' } })
    await server.after(60)
    const { mail } = (await admin.get('/api/v2.1/admin/status/')).body
    assert.partialDeepStrictEqual(mail, { waiting: 0, failed_24h: 0, sent_24h: 0 })
  })
})

describe('mailed notifications', () => {
  const share = (client: Client, id: string, email: string, path = '/') =>
    client.put(`/api2/repos/${id}/dir/shared_items/`, {
      query: { p: path },
      form: { share_type: 'user', username: email, permission: 'r' },
    })

  it('collects what happens in a minute, in the language of the recipient', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const ann = await server.signUp({ email: 'ann@example.org' })
    const bob = await server.signUp({ email: 'bob@example.org' })
    await bob.put('/api/v2.1/user/', { form: { language: 'fr' } })
    for (const name of ['Plans', 'Photos']) await share(ann, await ann.createLibrary(name), 'bob@example.org')
    await server.after(0)
    assert.equal(smtp.received.length, 0)
    await server.after(60)
    assert.equal(smtp.received.length, 1)
    const mail = smtp.received[0]!
    assert.equal(mail.headers.get('subject'), '2 nouvelles notifications')
    assert.match(mail.text, /ann a partagé « Plans » avec vous/)
    assert.match(mail.headers.get('list-unsubscribe') ?? '', /app\/account\/notifications>$/)
    assert.match(mail.html, /<html lang="fr" dir="ltr">/)
  })

  it('is written from right to left in Arabic, with names in their own direction', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const ann = await server.signUp({ email: 'ann@example.org' })
    const bob = await server.signUp({ email: 'bob@example.org' })
    await bob.put('/api/v2.1/user/', { form: { language: 'ar' } })
    await share(ann, await ann.createLibrary('2026 (a)'), 'bob@example.org')
    await server.after(60)
    const mail = smtp.received[0]
    assert.ok(mail !== undefined)
    assert.equal(mail.headers.get('subject'), 'شارك ann «2026 (a)» معك')
    assert.match(mail.html, /<html lang="ar" dir="rtl">/)
    assert.match(mail.text, /شارك \u2068ann\u2069 «\u20682026 \(a\)\u2069» معك/)
  })

  it('says nothing about a share that ended before, or that was seen', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const ann = await server.signUp({ email: 'ann@example.org' })
    const bob = await server.signUp({ email: 'bob@example.org' })
    const [ended, seen] = [await ann.createLibrary('Ended'), await ann.createLibrary('Seen')]
    await share(ann, ended, 'bob@example.org')
    const query = { p: '/', share_type: 'user', username: 'bob@example.org' }
    assert.equal((await ann.delete(`/api2/repos/${ended}/dir/shared_items/`, { query })).status, 200)
    await server.after(60)
    await share(ann, seen, 'bob@example.org')
    await bob.put('/api/v2.1/notifications/')
    await server.after(60)
    assert.equal(smtp.received.length, 0)
  })

  it('are sent daily or not at all, as the user chose', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const ann = await server.signUp({ email: 'ann@example.org' })
    for (const [email, choice] of [
      ['bob@example.org', 'daily'],
      ['cid@example.org', 'off'],
    ] as const) {
      const user = await server.signUp({ email })
      const reply = await user.put('/api/v2.1/user/', { form: { mail_notices: choice } })
      assert.equal(reply.body.mail_notices, choice)
      await share(ann, await ann.createLibrary(choice), email)
    }
    await server.after(3600)
    assert.equal(smtp.received.length, 0)
    await server.after(86_400)
    assert.deepEqual(
      smtp.received.map(({ to }) => to),
      [['bob@example.org']],
    )
  })

  it('are collected for the interval that a client set, and changes in monitored libraries for one of their own', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const info = '/api2/account/info/'
    const ann = await server.signUp({ email: 'ann@example.org' })
    const bob = await server.signUp({ email: 'bob@example.org' })
    const intervalsOf = async (): Promise<[number, number]> => {
      const { body } = await bob.get(info)
      return [body.collaborate_email_interval, body.file_updates_email_interval]
    }
    assert.deepEqual(await intervalsOf(), [60, 0])
    for (const [form, shown] of [
      [{ collaborate_email_interval: 0 }, [0, 0]],
      [{ collaborate_email_interval: 86_400 }, [86_400, 0]],
      [{ collaborate_email_interval: 3600, file_updates_email_interval: 7200 }, [3600, 7200]],
      [{ name: 'Bob' }, [3600, 7200]],
    ] as const) {
      assert.equal((await bob.put(info, { form })).status, 200)
      assert.deepEqual(await intervalsOf(), shown)
    }
    for (const name of ['collaborate_email_interval', 'file_updates_email_interval']) {
      for (const value of ['-1', 'x', '99999999']) {
        const reply = await bob.put(info, { form: { [name]: value } })
        assert.deepEqual([reply.status, reply.body], [400, { error_msg: `${name} invalid` }])
      }
    }
    const id = await ann.createLibrary('Plans')
    await share(ann, id, 'bob@example.org')
    await bob.post('/api/v2.1/monitored-repos/', { form: { repo_id: id } })
    await makeFolder(ann, id, '/a')
    // A list of notifications includes all commits before it.
    assert.equal((await bob.get('/api/v2.1/notifications/')).body.count, 2)
    await server.after(3599)
    assert.equal(smtp.received.length, 0)
    await share(ann, await ann.createLibrary('More plans'), 'bob@example.org')
    await server.after(1)
    assert.deepEqual(
      smtp.received.map((mail) => mail.headers.get('subject')),
      ['2 new notifications'],
    )
    assert.doesNotMatch(smtp.received[0]?.text ?? '', /changed/)
    await server.after(3600)
    assert.deepEqual(
      smtp.received.slice(1).map((mail) => mail.headers.get('subject')),
      ['ann changed the library “Plans”'],
    )
    // One that waits is not sent once the user chose to get none.
    await makeFolder(ann, id, '/b')
    assert.equal((await bob.get('/api/v2.1/notifications/')).body.count, 4)
    await bob.put(info, { form: { file_updates_email_interval: 0 } })
    // The choice of the web app replaces the interval.
    await bob.put('/api/v2.1/user/', { form: { mail_notices: 'at-once' } })
    assert.deepEqual(await intervalsOf(), [60, 0])
    await server.after(7200)
    assert.equal(smtp.received.length, 2)
  })

  it('cannot be forged by names', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const ann = await server.signUp({ email: 'ann@example.org' })
    await server.signUp({ email: 'bob@example.org' })
    await server.running.services.accounts.update(
      'ann@example.org',
      {
        name: 'Ann <b>"bold" www.example.com',
      },
      undefined,
    )
    const name = "<img src=x> www.evil.example \u202Etxt.exe \" {name} '{'"
    await share(ann, await ann.createLibrary(name), 'bob@example.org')
    await server.after(60)
    const mail = smtp.received[0] ?? assert.fail('no mail')
    assert.deepEqual(mail.to, ['bob@example.org'])
    assert.doesNotMatch(mail.html, /<img|<b>"/)
    assert.match(mail.html, /&lt;img src=x&gt;/)
    assert.doesNotMatch(mail.raw, /\u202E/)
    assert.doesNotMatch(mail.text, /www\.evil\.example|www\.example\.com/)
    assert.match(mail.text, /\{name\}/)
  })
})

describe('a link sent by mail', () => {
  it('arrives with the message of its creator, unless it was deleted', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp, { env: { CARREL_MAIL_PER_DAY: '3' } })
    const ann = await server.signUp({ email: 'ann@example.org' })
    const id = await ann.createLibrary('Plans')
    const made = await ann.post('/api/v2.1/share-links/', { form: { repo_id: id, path: '/' } })
    const send = (email: string, extra_msg = '') =>
      ann.post('/api2/send-share-link/', { form: { email, token: made.body.token, extra_msg } })
    const message = 'Have a look.\r\nBcc: everybody@example.net'
    const first = await send('bob@example.net, nonsense, cid@example.net', message)
    assert.deepEqual(first.body, {
      success: ['bob@example.net', 'cid@example.net'],
      failed: [{ email: 'nonsense', error_msg: 'Email invalid.' }],
    })
    await server.after(0)
    assert.equal(smtp.received.length, 2)
    const mail = smtp.received[0]!
    assert.equal(mail.headers.get('subject'), 'ann shared “Plans” with you')
    assert.equal(mail.headers.get('reply-to'), 'ann <ann@example.org>')
    assert.equal(mail.headers.has('bcc'), false)
    assert.match(mail.text, new RegExp(`https://files.example.org/d/${made.body.token}/`))
    assert.match(mail.text, /> Have a look\./)
    const limited = await send('dan@example.net, eve@example.net')
    assert.deepEqual(limited.body.success, ['dan@example.net'])
    assert.equal(limited.body.failed[0].email, 'eve@example.net')
    await server.after(0)
    assert.equal(smtp.received.length, 3)
  })
})

describe('a contact address', () => {
  it('is verified through the link in the mail', async () => {
    await using smtp = await startSmtpReceiver()
    await using server = await startWithMail(smtp)
    const ann = await server.signUp({ email: 'ann@example.org' })
    const set = await ann.put('/api/v2.1/user/', { form: { contact_email: 'ann@example.net' } })
    assert.equal(set.body.contact_email_verified, false)
    await server.after(0)
    // Another mail tells the owner of the account.
    const mail = smtp.received.find(({ to }) => to.includes('ann@example.net'))!
    const form = { token: tokenIn(mail.text) }
    assert.equal((await server.anonymous.post('/api/v2.1/confirm-contact-email/', { form })).status, 200)
    assert.equal((await ann.get('/api/v2.1/user/')).body.contact_email_verified, true)
    assert.equal((await server.anonymous.post('/api/v2.1/confirm-contact-email/', { form })).status, 400)
  })
})
