import { fail } from '../../errors.ts'
import { required } from '../../http/index.ts'
import { personOf } from '../../identity/index.ts'
import { parseLibraryId } from '../../objects/index.ts'
import { libraryIdParam } from '../common/readers.ts'
import { route } from '../services.ts'

export const monitoredLibraryRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/monitored-repos/',
    auth: 'user',
    summary: 'Monitors a library: the caller is notified of changes by others.',
    body: { repo_id: required() },
    async handle({ user, body }, { access, activity }) {
      const id = parseLibraryId(body.repo_id) ?? fail({ code: 'library-not-found', id: body.repo_id })
      const { info } = await access.open(user, id)
      await activity.monitored.add(user, info)
      const { email, name, contactEmail } = personOf(user)
      return { user_email: email, user_name: name, user_contact_email: contactEmail, repo_id: id }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/monitored-repos/:repo_id/',
    auth: 'user',
    summary: 'Stops monitoring a library.',
    params: { repo_id: libraryIdParam },
    async handle({ user, params }, { access, activity }) {
      const { info } = await access.open(user, params.repo_id)
      await activity.monitored.remove(user, info)
      return { success: true }
    },
  }),
]
