import { useQueryClient } from '@tanstack/react-query'
import { KeyRound, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type PersonalToken, revokeToken, usePersonalTokens } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, Empty, FormDialog, LoadError, useToast, Waiting } from '../ui/index.ts'
import { NewTokenDialog } from './new-token-dialog.tsx'

/** Tokens for scripts and apps. */
export function Tokens() {
  const texts = useTexts('account')
  const { data, error, refetch } = usePersonalTokens()
  const [isMaking, setMaking] = useState(false)
  const [revoked, setRevoked] = useState<PersonalToken>()
  if (data === undefined) {
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  }
  const newToken = (
    <Button variant="primary" icon={Plus} onClick={() => setMaking(true)}>
      {texts.newToken}
    </Button>
  )
  return (
    <section className="stack">
      {data.length === 0 ? (
        <Empty icon={KeyRound} title={texts.noTokens} hint={texts.noTokensHint}>
          {newToken}
        </Empty>
      ) : (
        <>
          <div className="account-head">
            <p className="muted">{texts.tokensHint}</p>
            {newToken}
          </div>
          <ul className="card account-list" aria-label={texts.tokens}>
            {data.map((token) => (
              <TokenItem key={token.id} token={token} onRevoke={() => setRevoked(token)} />
            ))}
          </ul>
        </>
      )}
      {isMaking && <NewTokenDialog onClose={() => setMaking(false)} />}
      {revoked && <RevokeDialog token={revoked} onClose={() => setRevoked(undefined)} />}
    </section>
  )
}

function TokenItem(props: { token: PersonalToken; onRevoke: () => void }) {
  const { token } = props
  const texts = useTexts('account')
  const formats = useFormats()
  const { last_used_at: lastUsed, expires_at: expires } = token
  const isOver = expires !== null && Date.parse(expires) < Date.now()
  return (
    <li className="account-item">
      <KeyRound size={22} aria-hidden />
      <div className="account-item-words">
        <span className="account-item-title">
          <bdi title={token.name}>{token.name}</bdi>
          <span className="badge">{texts.permissions[token.permission]}</span>
          {isOver && <span className="badge badge-warn">{texts.expired}</span>}
        </span>
        <span className="muted account-item-facts">
          <bdi>{token.repo_id === null ? texts.allLibraries : (token.repo_name ?? '—')}</bdi>
          {` · ${texts.lastUsed}: ${lastUsed === null ? texts.never : formats.ago(lastUsed)}`}
          {` · ${texts.expires}: ${expires === null ? texts.never : formats.date(expires)}`}
        </span>
      </div>
      <Button icon={Trash2} aria-label={texts.revokeOf(token.name)} onClick={props.onRevoke}>
        {texts.revoke}
      </Button>
    </li>
  )
}

function RevokeDialog(props: { token: PersonalToken; onClose: () => void }) {
  const { id, name } = props.token
  const texts = useTexts('account')
  const queries = useQueryClient()
  const toast = useToast()

  async function revoke(): Promise<void> {
    await revokeToken(id)
    await queries.invalidateQueries({ queryKey: ['account', 'tokens'] })
    toast({ text: texts.revoked(name) })
  }

  return (
    <FormDialog
      title={texts.revokeTitle}
      submit={texts.revoke}
      danger
      onSubmit={revoke}
      onClose={props.onClose}
    >
      <p className="account-asked">
        <bdi>{name}</bdi>
      </p>
      <p className="muted">{texts.revokeText}</p>
    </FormDialog>
  )
}
