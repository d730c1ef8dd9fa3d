import { parseLibraryId } from '../../../base/objects/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { map, rawText, text } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { done } from './accounts.schema.ts'
import { accountRoute as route } from './services.ts'

const MAX_USER_AGENT = 255

const toolName = map(text(), (sent) => (/^[\w-]{1,64}$/.test(sent) ? sent : undefined))

export const toolCallRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/tool-calls/',
    auth: 'user',
    // Whoever may read with a token may also say for what.
    scope: 'read',
    summary: 'Records in the audit log that a program calls a tool for the caller, before it does.',
    compatibility: 'addition',
    callers: 'every account',
    sample: { form: { tool: 'search' } },
    body: { tool: toolName, repo_id: rawText(), path: rawText() },
    responses: () => done('The call is in the audit log.'),
    details: () => ({
      parameters: {
        tool: { required: true, description: 'The name of the tool: letters, digits, `_` and `-`.' },
        repo_id: { description: 'The id of the library that the tool uses.' },
        path: { description: 'The path that the tool uses.' },
      },
    }),
    async handle({ user, body, request }, { access, audit }) {
      // An entry about a library that the token does not reach would be invented.
      const library = body.repo_id ? await access.open(user, idIn(body.repo_id)) : undefined
      const client = (request.header('user-agent') ?? '').slice(0, MAX_USER_AGENT)
      await audit.append(auditActor(user, request), {
        action: 'tool-called',
        objectKind: library === undefined ? 'account' : 'library',
        objectId: library?.info.id ?? user.email,
        path: body.path,
        detail: {
          tool: body.tool,
          client,
          ...(user.scope !== undefined && { token: user.scope.tokenKey }),
          ...(library !== undefined && { name: library.info.name }),
        },
      })
      return { success: true }
    },
  }),
]

function idIn(sent: string) {
  const id = parseLibraryId(sent)
  if (id === undefined) throw errorMessage(400, 'repo_id invalid.')
  return id
}
