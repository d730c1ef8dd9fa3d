import type { Config } from '../../../base/config/index.ts'
import { MailRefused, Smtp } from '../../../people/mail/index.ts'
import { type Finding, fail, ok } from './finding.ts'

const TIMEOUT_MS = 30_000

/** Checks that the mail server, if there is one, can be reached and accepts the sign-in. Sends nothing. */
export async function checkMail({ mail }: Config): Promise<Finding | readonly Finding[]> {
  if (mail === undefined) return []
  const { host, port } = mail.server
  try {
    await new Smtp(mail).verify(AbortSignal.timeout(TIMEOUT_MS))
    return ok('mail', `${host}:${port} accepts mail`)
  } catch (error) {
    const message = error instanceof MailRefused ? error.message : `${host}:${port} does not answer`
    return fail('mail', message, 'correct CARREL_MAIL_URL')
  }
}
