import { json, kinds } from '../../../base/schemas/index.ts'
import { displayName, mailAddressOf } from '../../../people/accounts/index.ts'
import { MailRefused, mailTexts } from '../../../people/mail/index.ts'
import { statusRoute as route } from './services.ts'

export const adminTestMailRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/admin/test-mail/',
    auth: 'admin',
    summary:
      'Sends a test mail to the caller at once, and returns the answer of the mail server if it was not accepted.',
    compatibility: 'addition',
    callers: 'administrators',
    responses: () => ({
      200: json(
        kinds.record('TestMail', {
          sent: kinds.flag('Whether the mail server accepted it.'),
          to: kinds.contactEmail,
          error: kinds.orNull(kinds.text('The answer of the mail server, or why there was none.')),
        }),
        'The result.',
      ),
    }),
    async handle({ user }, { outbox }) {
      const language = user.language ?? 'en'
      const { messages, format } = mailTexts(language)
      const { site } = outbox
      const to = mailAddressOf(user)
      try {
        await outbox.sendNow({
          to: { name: displayName(user), address: to },
          language,
          subject: format(messages.test.subject, { site }),
          lines: [messages.test.intro],
          why: format(messages.why, { site, email: user.email }),
        })
        return { sent: true, to, error: null }
      } catch (error) {
        if (!(error instanceof MailRefused)) throw error
        return { sent: false, to, error: error.message }
      }
    },
  }),
]
