import { Dices } from 'lucide-react'
import { useState } from 'react'
import {
  type AdminUser,
  changeUser,
  createUser,
  resetPassword,
  sendsMail,
  type UserFields,
} from '../api/index.ts'
import { NewPasswordField } from '../session/index.ts'
import { makePassword } from '../sharing/index.ts'
import { useTexts } from '../texts/index.ts'
import {
  Button,
  CheckField,
  CopyButton,
  Dialog,
  FormDialog,
  SelectField,
  TextField,
  useAction,
} from '../ui/index.ts'

/** A password that the administrator passes on to the user. */
export interface MadePassword {
  readonly email: string
  readonly password: string
}

type Kind = 'default' | 'guest' | 'admin'

/** The quota is entered in GB and sent in MB. */
const megabytesOf = (gigabytes: string) => Math.round(Number(gigabytes) * 1000)

const kindFields = (kind: Kind): UserFields => ({
  is_staff: kind === 'admin',
  role: kind === 'guest' ? 'guest' : 'default',
})

function UserKind(props: { value: Kind; disabled?: boolean; onChange: (kind: Kind) => void }) {
  const texts = useTexts('admin')
  return (
    <SelectField
      label={texts.kind}
      hint={texts.kindHints[props.value]}
      value={props.value}
      disabled={props.disabled ?? false}
      onChange={(event) => props.onChange(event.target.value as Kind)}
    >
      <option value="default">{texts.plainUser}</option>
      <option value="guest">{texts.guest}</option>
      <option value="admin">{texts.administrator}</option>
    </SelectField>
  )
}

function Quota(props: { value: string; onChange: (value: string) => void }) {
  const texts = useTexts('admin')
  return (
    <TextField
      label={texts.quota}
      hint={texts.quotaHint}
      type="number"
      min={0}
      step="any"
      inputMode="decimal"
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    />
  )
}

export function NewUser(props: { onMade: (made: MadePassword) => void; onClose: () => void }) {
  const texts = useTexts('admin')
  const sharing = useTexts('sharing')
  const common = useTexts('common')
  const refresh = useAction('admin')
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [password, setPassword] = useState(makePassword)
  const [kind, setKind] = useState<Kind>('default')
  const [quota, setQuota] = useState('')
  const [invites, setInvites] = useState(sendsMail)
  async function make(): Promise<void> {
    await createUser(email.trim(), {
      ...(invites ? { invite: true } : { password }),
      ...(name.trim() !== '' && { name: name.trim() }),
      ...kindFields(kind),
      ...(quota !== '' && { quota_total: megabytesOf(quota) }),
    })
    void refresh(async () => {}, (invites ? texts.invited : texts.userMade)(email.trim()))
    if (!invites) props.onMade({ email: email.trim(), password })
  }
  return (
    <FormDialog
      title={texts.newUser}
      submit={common.create}
      disabled={email.trim() === '' || (!invites && password === '')}
      onSubmit={make}
      onClose={props.onClose}
    >
      <TextField
        label={common.email}
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <TextField
        label={common.name}
        maxLength={64}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      {sendsMail() && (
        <CheckField
          label={texts.invite}
          checked={invites}
          onChange={(event) => setInvites(event.target.checked)}
        />
      )}
      {invites ? (
        <p className="muted">{texts.inviteHint}</p>
      ) : (
        <div className="sharing-password">
          <NewPasswordField
            label={common.password}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
          <Button icon={Dices} onClick={() => setPassword(makePassword())}>
            {sharing.generate}
          </Button>
        </div>
      )}
      <UserKind value={kind} onChange={setKind} />
      <Quota value={quota} onChange={setQuota} />
    </FormDialog>
  )
}

export function EditUser(props: { user: AdminUser; isSelf: boolean; onClose: () => void }) {
  const { user } = props
  const texts = useTexts('admin')
  const common = useTexts('common')
  const refresh = useAction('admin', 'account')
  const before = {
    kind: user.is_staff ? 'admin' : user.role,
    quota: user.quota_total > 0 ? String(user.quota_total / 1_000_000_000) : '',
  } as const
  const [name, setName] = useState(user.name)
  const [kind, setKind] = useState<Kind>(before.kind)
  const [quota, setQuota] = useState<string>(before.quota)
  const [active, setActive] = useState(user.is_active)
  async function save(): Promise<void> {
    await changeUser(user.email, {
      ...(name.trim() !== user.name && { name: name.trim() }),
      ...(kind !== before.kind && kindFields(kind)),
      ...(quota !== before.quota && { quota_total: megabytesOf(quota || '0') }),
      ...(active !== user.is_active && { is_active: active }),
    })
    void refresh(async () => {})
  }
  return (
    <FormDialog title={<bdi>{user.email}</bdi>} submit={common.save} onSubmit={save} onClose={props.onClose}>
      <TextField
        label={common.name}
        maxLength={64}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <UserKind value={kind} disabled={props.isSelf} onChange={setKind} />
      <Quota value={quota} onChange={setQuota} />
      <CheckField
        label={texts.maySignIn}
        checked={active}
        disabled={props.isSelf}
        onChange={(event) => setActive(event.target.checked)}
      />
    </FormDialog>
  )
}

export function ResetPassword(props: {
  user: AdminUser
  onMade: (password: string) => void
  onClose: () => void
}) {
  const texts = useTexts('admin')
  return (
    <FormDialog
      title={texts.resetPassword}
      submit={texts.resetPassword}
      danger
      onSubmit={async () => props.onMade((await resetPassword(props.user.email)).new_password)}
      onClose={props.onClose}
    >
      <p>{texts.resetHint(props.user.email)}</p>
    </FormDialog>
  )
}

/** Shows a generated password once. */
export function NewPassword(props: { made: MadePassword; onClose: () => void }) {
  const { email, password } = props.made
  const texts = useTexts('admin')
  const common = useTexts('common')
  return (
    <Dialog
      title={texts.newPassword}
      onClose={props.onClose}
      foot={<Button onClick={props.onClose}>{common.done}</Button>}
    >
      <p>{texts.shownOnce(email)}</p>
      <div className="admin-secret">
        <code>{password}</code>
        <CopyButton text={password} primary />
      </div>
    </Dialog>
  )
}
