import { useQueryClient } from '@tanstack/react-query'
import { HardDrive, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { revokeToken, setWebdavPassword, useSessions, type WebdavClient } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, ButtonLink, FormDialog, useToast } from '../ui/index.ts'

/** Programs that used WebDAV. They have no session: one ends with the password or the token that it signs in with. */
export function WebdavClients() {
  const texts = useTexts('account')
  const { data } = useSessions()
  const [ended, setEnded] = useState<WebdavClient>()
  const clients = data?.webdav_clients ?? []
  if (clients.length === 0) return null
  return (
    <section className="stack">
      <h2>{texts.webdav}</h2>
      <p className="muted">{texts.webdavClientsHint}</p>
      <ul className="card account-list" aria-label={texts.webdav}>
        {clients.map((client) => (
          <ClientItem key={client.id} client={client} onEnd={() => setEnded(client)} />
        ))}
      </ul>
      {ended && <EndDialog client={ended} onClose={() => setEnded(undefined)} />}
    </section>
  )
}

function ClientItem(props: { client: WebdavClient; onEnd: () => void }) {
  const { client } = props
  const texts = useTexts('account')
  const formats = useFormats()
  const name = client.user_agent || texts.unknownProgram
  const tokenName = client.token_name ?? ''
  return (
    <li className="account-item">
      <HardDrive size={22} aria-hidden />
      <div className="account-item-words">
        <span className="account-item-title">
          <bdi title={name}>{name}</bdi>
          <span className="badge">
            {client.credential === 'webdav-password' && texts.byWebdavPassword}
            {client.credential === 'account-password' && texts.byAccountPassword}
            {client.credential === 'personal-token' && texts.byToken(tokenName)}
          </span>
        </span>
        <span className="muted account-item-facts">
          <time dateTime={client.last_accessed} title={formats.moment(client.last_accessed)}>
            {texts.lastUsed}: {formats.ago(client.last_accessed)}
          </time>
          {` · ${client.last_login_ip}`}
        </span>
        {client.credential === 'account-password' && (
          <span className="muted">{texts.accountPasswordEnds}</span>
        )}
      </div>
      {client.credential === 'account-password' ? (
        <ButtonLink to="/account/webdav">{texts.webdavSave}</ButtonLink>
      ) : (
        <Button
          icon={Trash2}
          aria-label={client.credential === 'personal-token' ? texts.revokeOf(tokenName) : texts.webdavRemove}
          onClick={props.onEnd}
        >
          {client.credential === 'personal-token' ? texts.revoke : texts.webdavRemove}
        </Button>
      )}
    </li>
  )
}

/** Ends the credential of a program, and with it all programs that use it. */
function EndDialog(props: { client: WebdavClient; onClose: () => void }) {
  const { token_id: token, token_name: tokenName } = props.client
  const texts = useTexts('account')
  const queries = useQueryClient()
  const toast = useToast()

  async function end(): Promise<void> {
    if (token === null) await setWebdavPassword('')
    else await revokeToken(token)
    await queries.invalidateQueries({ queryKey: ['account'] })
    toast({ text: token === null ? texts.webdavRemoved : texts.revoked(tokenName ?? '') })
  }

  return (
    <FormDialog
      title={token === null ? texts.removeWebdavTitle : texts.revokeTitle}
      submit={token === null ? texts.webdavRemove : texts.revoke}
      danger
      onSubmit={end}
      onClose={props.onClose}
    >
      {token !== null && (
        <p className="account-asked">
          <bdi>{tokenName}</bdi>
        </p>
      )}
      <p className="muted">{token === null ? texts.removeWebdavText : texts.revokeText}</p>
    </FormDialog>
  )
}
