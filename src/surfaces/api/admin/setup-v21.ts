import { json } from '../../../base/schemas/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import { setup as setupSchema } from './server.schema.ts'
import { statusRoute as route } from './services.ts'
import { mailToWire } from './status-v21.ts'

export const adminSetupRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/admin/setup/',
    auth: 'admin',
    summary:
      'Returns the state of the first steps of an administrator: the public URL, backups, mail, accounts, and the own password.',
    compatibility: 'addition',
    callers: 'administrators',
    responses: () => ({ 200: json(setupSchema, 'The state.') }),
    async handle({ user, request }, { accounts, backups, onboarding, outbox, setup }) {
      const [state, total, { passwordAssigned }, mail] = await Promise.all([
        backups.state(),
        accounts.count(),
        onboarding.state(user),
        outbox.state(),
      ])
      return {
        // The base URL of links is taken from the request if none is configured.
        public_url: setup.publicUrl ?? null,
        base_url: request.baseUrl,
        backup: {
          scheduled: setup.backupIntervalSeconds !== undefined,
          interval_hours:
            setup.backupIntervalSeconds === undefined ? null : setup.backupIntervalSeconds / 3600,
          last_backup: state.lastBackupAt === undefined ? null : isoTime(state.lastBackupAt),
          failure: state.failure ? { at: isoTime(state.failure.at), message: state.failure.message } : null,
        },
        mail: mailToWire(mail),
        accounts: total,
        password_assigned: passwordAssigned,
      }
    },
  }),
]
