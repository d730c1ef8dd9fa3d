import { Crown, MoreHorizontal, Pencil, Trash2, Users as UsersIcon, X } from 'lucide-react'
import { useState } from 'react'
import {
  type AdminGroup,
  addAnyMembers,
  changeAnyGroup,
  deleteAnyGroup,
  removeAnyMember,
  useAdminGroups,
  useAnyMembers,
} from '../api/admin.ts'
import type { Person } from '../api/sharing.ts'
import { useFormats } from '../format.ts'
import { useAct } from '../sharing/act.ts'
import { Confirm } from '../sharing/confirm.tsx'
import { PeopleField } from '../sharing/people-field.tsx'
import { SearchField } from '../sharing/search-field.tsx'
import { useSettled } from '../sharing/settled.ts'
import { useTexts } from '../texts/texts.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog, FormDialog } from '../ui/dialog.tsx'
import { Failed } from '../ui/failed.tsx'
import { TextField } from '../ui/field.tsx'
import { Menu } from '../ui/menu.tsx'
import { Waiting } from '../ui/states.tsx'
import { Listing, Named } from './listing.tsx'

/** Everybody's groups. */
export function Groups() {
  const texts = useTexts('admin')
  const common = useTexts('common')
  const formats = useFormats()
  const [typed, setTyped] = useState('')
  const groups = useAdminGroups(useSettled(typed.trim()))
  return (
    <>
      <SearchField label={texts.findGroups} value={typed} onChange={setTyped} />
      <Listing
        label={texts.sections.groups}
        query={groups}
        keyOf={({ id }) => id}
        empty={{ icon: UsersIcon, title: texts.noGroups }}
        columns={[
          {
            head: common.name,
            cell: ({ name, owner }) => <Named name={name} title={name} about={<bdi>{owner}</bdi>} />,
          },
          { head: texts.made, cell: ({ created_at }) => formats.date(created_at), wide: true },
          { head: texts.sharedSize, cell: ({ size }) => formats.size(size), end: true },
        ]}
        actions={(group) => <GroupMenu group={group} />}
      />
    </>
  )
}

function GroupMenu(props: { group: AdminGroup }) {
  const { group } = props
  const texts = useTexts('admin')
  const sharing = useTexts('sharing')
  const common = useTexts('common')
  const act = useAct('admin', 'groups')
  const [asked, setAsked] = useState<'members' | 'rename' | 'hand-over' | 'delete'>()
  const close = () => setAsked(undefined)
  return (
    <>
      <Menu
        trigger={<IconButton label={texts.moreAbout(group.name)} icon={MoreHorizontal} />}
        entries={[
          { label: sharing.members, icon: UsersIcon, onSelect: () => setAsked('members') },
          { label: common.rename, icon: Pencil, onSelect: () => setAsked('rename') },
          { label: sharing.handOver, icon: Crown, onSelect: () => setAsked('hand-over') },
          'line',
          { label: common.delete, icon: Trash2, danger: true, onSelect: () => setAsked('delete') },
        ]}
      />
      {asked === 'members' && <Members group={group} onClose={close} />}
      {asked === 'rename' && <Rename group={group} onClose={close} />}
      {asked === 'hand-over' && <HandOver group={group} onClose={close} />}
      {asked === 'delete' && (
        <Confirm
          title={sharing.deleteGroup}
          text={sharing.deleteGroupHint}
          submit={common.delete}
          onConfirm={() => act(() => deleteAnyGroup(group.id), sharing.groupDeleted)}
          onClose={close}
        />
      )}
    </>
  )
}

function Rename(props: { group: AdminGroup; onClose: () => void }) {
  const sharing = useTexts('sharing')
  const common = useTexts('common')
  const refresh = useAct('admin', 'groups')
  const [name, setName] = useState(props.group.name)
  return (
    <FormDialog
      title={common.rename}
      submit={common.rename}
      disabled={name.trim() === '' || name === props.group.name}
      onSubmit={async () => {
        await changeAnyGroup(props.group.id, { new_name: name.trim() })
        void refresh(async () => {})
      }}
      onClose={props.onClose}
    >
      <TextField
        label={sharing.groupName}
        maxLength={255}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}

function HandOver(props: { group: AdminGroup; onClose: () => void }) {
  const sharing = useTexts('sharing')
  const refresh = useAct('admin', 'groups')
  const [people, setPeople] = useState<readonly Person[]>([])
  const [person] = people
  return (
    <FormDialog
      title={sharing.handOver}
      submit={sharing.handOver}
      disabled={person === undefined}
      onSubmit={async () => {
        if (person) await changeAnyGroup(props.group.id, { new_owner: person.email })
        void refresh(async () => {})
      }}
      onClose={props.onClose}
    >
      <PeopleField
        single
        label={sharing.newOwner}
        chosen={people}
        onChange={setPeople}
        without={[props.group.owner]}
      />
    </FormDialog>
  )
}

function Members(props: { group: AdminGroup; onClose: () => void }) {
  const { group } = props
  const texts = useTexts('admin')
  const sharing = useTexts('sharing')
  const members = useAnyMembers(group.id)
  const act = useAct('admin', 'groups')
  const [people, setPeople] = useState<readonly Person[]>([])
  const emails = people.map(({ email }) => email)
  async function add(): Promise<void> {
    await act(async () => {
      const { failed } = await addAnyMembers(group.id, emails)
      setPeople([])
      if (failed.length > 0) throw new Error(failed.map(({ error_msg }) => error_msg).join(' '))
    })
  }
  return (
    <Dialog title={<bdi>{group.name}</bdi>} onClose={props.onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <PeopleField
          label={sharing.addMembers}
          chosen={people}
          onChange={setPeople}
          without={members.data?.map(({ email }) => email) ?? []}
        />
        {people.length > 0 && (
          <Button type="submit" variant="primary">
            {sharing.addMembers}
          </Button>
        )}
      </form>
      {members.isPending && <Waiting />}
      {members.isError && <Failed error={members.error} onRetry={() => void members.refetch()} />}
      <ul className="sharing-rows">
        {members.data?.map(({ email, name, role, avatar_url }) => (
          <li key={email} className="sharing-row">
            <Avatar email={email} url={avatar_url} size={30} />
            <span className="sharing-names">
              <bdi>{name}</bdi>
              <bdi className="muted">{email}</bdi>
            </span>
            {role !== 'Member' && <span className="badge">{sharing.roles[role]}</span>}
            {role !== 'Owner' && (
              <IconButton
                label={texts.removeMember(name)}
                icon={X}
                onClick={() => void act(() => removeAnyMember(group.id, email))}
              />
            )}
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
