import { ArrowLeft, Crown, LogOut, MoreHorizontal, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useAccount } from '../api/account.ts'
import {
  deleteGroup,
  type GroupItem,
  handOverGroup,
  removeMember,
  renameGroup,
  useGroup,
} from '../api/groups.ts'
import type { Person } from '../api/sharing.ts'
import { useTexts } from '../texts/texts.tsx'
import { IconButton } from '../ui/button.tsx'
import { FormDialog } from '../ui/dialog.tsx'
import { Failed } from '../ui/failed.tsx'
import { TextField } from '../ui/field.tsx'
import { Menu } from '../ui/menu.tsx'
import { Waiting } from '../ui/states.tsx'
import { useAct } from './act.ts'
import { Confirm } from './confirm.tsx'
import { GroupLibraries } from './group-libraries.tsx'
import { GroupMembers } from './group-members.tsx'
import { PeopleField } from './people-field.tsx'

/** What the caller is in a group. */
export interface GroupRole {
  readonly email: string
  readonly isOwner: boolean
  readonly isAdmin: boolean
}

/** One group: its libraries and its people. */
export function GroupView(props: { id: number }) {
  const texts = useTexts('sharing')
  const group = useGroup(props.id)
  const { data: account } = useAccount()
  if (group.isError) return <Failed error={group.error} onRetry={() => void group.refetch()} />
  if (group.isPending || account === undefined) return <Waiting />
  const { email } = account
  const isOwner = group.data.owner === email
  const role: GroupRole = { email, isOwner, isAdmin: isOwner || group.data.admins.includes(email) }
  return (
    <div className="page">
      <Link to="/groups" className="sharing-crumb">
        <ArrowLeft size={16} aria-hidden />
        {texts.groups}
      </Link>
      <div className="page-head">
        <h1>
          <bdi>{group.data.name}</bdi>
        </h1>
        <GroupMenu group={group.data} role={role} />
      </div>
      <div className="sharing-columns">
        <GroupLibraries group={group.data} role={role} />
        <GroupMembers group={group.data} role={role} />
      </div>
    </div>
  )
}

function GroupMenu(props: { group: GroupItem; role: GroupRole }) {
  const { group, role } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const [asked, setAsked] = useState<'rename' | 'hand-over' | 'leave' | 'delete'>()
  const act = useAct('groups', 'libraries')
  const [, go] = useLocation()
  const close = () => setAsked(undefined)
  const end = (work: () => Promise<unknown>, done: string) =>
    act(async () => {
      await work()
      go('/groups')
    }, done)
  return (
    <>
      <Menu
        trigger={<IconButton label={texts.groupMenu} icon={MoreHorizontal} />}
        entries={[
          role.isAdmin && { label: common.rename, icon: Pencil, onSelect: () => setAsked('rename') },
          role.isOwner && { label: texts.handOver, icon: Crown, onSelect: () => setAsked('hand-over') },
          !role.isOwner && { label: texts.leaveGroup, icon: LogOut, onSelect: () => setAsked('leave') },
          role.isOwner && 'line',
          role.isOwner && {
            label: common.delete,
            icon: Trash2,
            danger: true,
            onSelect: () => setAsked('delete'),
          },
        ]}
      />
      {asked === 'rename' && <RenameGroup group={group} onClose={close} />}
      {asked === 'hand-over' && <HandOver group={group} onClose={close} />}
      {asked === 'leave' && (
        <Confirm
          title={texts.leaveGroup}
          text={texts.leaveGroupHint}
          submit={texts.leave}
          onConfirm={() => end(() => removeMember(group.id, role.email), texts.groupLeft)}
          onClose={close}
        />
      )}
      {asked === 'delete' && (
        <Confirm
          title={texts.deleteGroup}
          text={texts.deleteGroupHint}
          submit={common.delete}
          onConfirm={() => end(() => deleteGroup(group.id), texts.groupDeleted)}
          onClose={close}
        />
      )}
    </>
  )
}

function RenameGroup(props: { group: GroupItem; onClose: () => void }) {
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const refresh = useAct('groups')
  const [name, setName] = useState(props.group.name)
  return (
    <FormDialog
      title={common.rename}
      submit={common.rename}
      disabled={name.trim() === '' || name === props.group.name}
      onSubmit={async () => {
        await renameGroup(props.group.id, name.trim())
        void refresh(async () => {})
      }}
      onClose={props.onClose}
    >
      <TextField
        label={texts.groupName}
        maxLength={255}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}

function HandOver(props: { group: GroupItem; onClose: () => void }) {
  const texts = useTexts('sharing')
  const refresh = useAct('groups')
  const [people, setPeople] = useState<readonly Person[]>([])
  const [person] = people
  return (
    <FormDialog
      title={texts.handOver}
      submit={texts.handOver}
      disabled={person === undefined}
      onSubmit={async () => {
        if (person) await handOverGroup(props.group.id, person.email)
        void refresh(async () => {})
      }}
      onClose={props.onClose}
    >
      <p className="muted">{texts.handOverHint}</p>
      <PeopleField
        single
        label={texts.newOwner}
        chosen={people}
        onChange={setPeople}
        without={[props.group.owner]}
      />
    </FormDialog>
  )
}
