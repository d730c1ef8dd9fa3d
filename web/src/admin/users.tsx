import {
  Ban,
  Check,
  EllipsisVertical,
  KeyRound,
  Pencil,
  ShieldOff,
  Trash2,
  UserPlus,
  Users as UsersIcon,
} from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import {
  type AdminUser,
  changeUser,
  deleteUser,
  resetSecondFactors,
  type UserOrder,
  useAccount,
  useAdminUsers,
} from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Avatar,
  Button,
  ConfirmDialog,
  IconButton,
  Menu,
  Progress,
  SearchField,
  useAction,
  useDebounced,
} from '../ui/index.ts'
import { Named, PagedTable } from './paged-table.tsx'
import { EditUser, type MadePassword, NewPassword, NewUser, ResetPassword } from './user-dialogs.tsx'

const orders: readonly UserOrder[] = ['email', 'create_time', 'last_login', 'quota_usage']

/** All accounts of the server. */
export function Users() {
  const texts = useTexts('admin')
  const formats = useFormats()
  const [typed, setTyped] = useState('')
  const [order, setOrder] = useState<UserOrder>('email')
  const [params] = useSearchParams()
  // The setup list leads straight to the dialog.
  const [making, setMaking] = useState(params.has('new'))
  const [made, setMade] = useState<MadePassword>()
  const users = useAdminUsers(useDebounced(typed.trim()), order)
  return (
    <>
      <div className="sharing-tools">
        <SearchField label={texts.findUsers} value={typed} onChange={setTyped} />
        <select
          className="input admin-choice"
          aria-label={texts.orderBy}
          value={order}
          disabled={typed.trim() !== ''}
          onChange={(event) => setOrder(event.target.value as UserOrder)}
        >
          {orders.map((one) => (
            <option key={one} value={one}>
              {texts.orders[one]}
            </option>
          ))}
        </select>
        <Button className="admin-new" variant="primary" icon={UserPlus} onClick={() => setMaking(true)}>
          {texts.newUser}
        </Button>
      </div>
      <PagedTable
        label={texts.sections.users}
        query={users}
        keyOf={({ email }) => email}
        empty={{ icon: UsersIcon, title: texts.noUsers }}
        columns={[
          {
            head: texts.user,
            cell: (user) => (
              <Named
                icon={<Avatar email={user.email} name={user.name} url={user.avatar_url} size={32} />}
                name={user.name}
                about={user.email}
                title={user.email}
                narrow={<Badges user={user} />}
              />
            ),
          },
          { head: texts.kind, cell: (user) => <Badges user={user} />, wide: true },
          {
            head: texts.fileSize,
            hint: texts.fileSizeHint,
            cell: (user) => <Space user={user} />,
            wide: true,
            end: true,
          },
          {
            head: texts.lastLogin,
            cell: ({ last_login }) => (last_login === '' ? texts.never : formats.when(last_login)),
            wide: true,
          },
        ]}
        actions={(user) => <UserMenu user={user} />}
      />
      {making && <NewUser onMade={setMade} onClose={() => setMaking(false)} />}
      {made && <NewPassword made={made} onClose={() => setMade(undefined)} />}
    </>
  )
}

function Badges(props: { user: AdminUser }) {
  const texts = useTexts('admin')
  const { is_staff, is_active, role, has_second_factor } = props.user
  return (
    <span className="sharing-facts">
      {is_staff && <span className="badge badge-accent">{texts.administrator}</span>}
      {role === 'guest' && <span className="badge">{texts.guest}</span>}
      {!is_active && <span className="badge badge-warn">{texts.isOff}</span>}
      {has_second_factor && <span className="badge">{texts.twoStep}</span>}
      {!is_staff && is_active && role !== 'guest' && <span className="badge">{texts.plainUser}</span>}
    </span>
  )
}

function Space(props: { user: AdminUser }) {
  const texts = useTexts('admin')
  const formats = useFormats()
  const { quota_usage: used, quota_total: total } = props.user
  if (total < 0) return formats.size(used)
  const label = texts.usedOf(formats.size(used), formats.size(total))
  return (
    <span className="admin-space">
      <Progress value={total === 0 ? 1 : used / total} label={label} />
      <span className="muted">{label}</span>
    </span>
  )
}

function UserMenu(props: { user: AdminUser }) {
  const { user } = props
  const texts = useTexts('admin')
  const common = useTexts('common')
  const { data: account } = useAccount()
  const act = useAction('admin')
  const [asked, setAsked] = useState<'edit' | 'password' | 'second-factor' | 'delete'>()
  const [password, setPassword] = useState<string>()
  const close = () => setAsked(undefined)
  const isSelf = account?.email === user.email
  const turn = () =>
    void act(
      () => changeUser(user.email, { is_active: !user.is_active }),
      user.is_active ? texts.switchedOff(user.name) : texts.switchedOn(user.name),
    )
  return (
    <>
      <Menu
        trigger={<IconButton label={texts.moreAbout(user.email)} icon={EllipsisVertical} />}
        entries={[
          { label: texts.edit, icon: Pencil, onSelect: () => setAsked('edit') },
          { label: texts.resetPassword, icon: KeyRound, onSelect: () => setAsked('password') },
          user.has_second_factor && {
            label: texts.resetSecondFactor,
            icon: ShieldOff,
            onSelect: () => setAsked('second-factor'),
          },
          !isSelf && {
            label: user.is_active ? texts.switchOff : texts.switchOn,
            icon: user.is_active ? Ban : Check,
            onSelect: turn,
          },
          !isSelf && 'line',
          !isSelf && {
            label: common.delete,
            icon: Trash2,
            danger: true,
            onSelect: () => setAsked('delete'),
          },
        ]}
      />
      {asked === 'edit' && <EditUser user={user} isSelf={isSelf} onClose={close} />}
      {asked === 'password' && <ResetPassword user={user} onMade={setPassword} onClose={close} />}
      {password !== undefined && (
        <NewPassword made={{ email: user.email, password }} onClose={() => setPassword(undefined)} />
      )}
      {asked === 'second-factor' && (
        <ConfirmDialog
          title={texts.resetSecondFactor}
          text={texts.resetSecondFactorHint(user.email)}
          submit={texts.resetSecondFactor}
          onConfirm={() => act(() => resetSecondFactors(user.email), texts.secondFactorReset(user.email))}
          onClose={close}
        />
      )}
      {asked === 'delete' && (
        <ConfirmDialog
          title={texts.deleteUser}
          text={texts.deleteUserHint(user.email)}
          submit={common.delete}
          onConfirm={() => act(() => deleteUser(user.email), texts.userDeleted(user.email))}
          onClose={close}
        />
      )}
    </>
  )
}
