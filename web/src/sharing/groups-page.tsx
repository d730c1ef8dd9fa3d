import './sharing.css'
import { Plus, SearchX, Users } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { makeGroup, useAccount, useGroups } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import {
  Button,
  ButtonLink,
  Empty,
  FormDialog,
  LoadError,
  TextField,
  useAction,
  useTitle,
  Waiting,
} from '../ui/index.ts'
import { GroupView } from './group-view.tsx'

/** The groups of the user, or one of them. */
export default function GroupsPage() {
  const { group } = useParams()
  if (group === undefined) return <GroupList />
  return /^\d{1,15}$/.test(group) ? <GroupView key={group} id={Number(group)} /> : <NoGroup />
}

function NoGroup() {
  const texts = useTexts('sharing')
  const common = useTexts('common')
  return (
    <Empty icon={SearchX} title={common.notFound}>
      <ButtonLink to="/groups">{texts.toGroups}</ButtonLink>
    </Empty>
  )
}

function GroupList() {
  const texts = useTexts('sharing')
  useTitle(texts.groups)
  const groups = useGroups()
  const { data: account } = useAccount()
  const [making, setMaking] = useState(false)
  const button = (
    <Button variant="primary" icon={Plus} onClick={() => setMaking(true)}>
      {texts.newGroup}
    </Button>
  )
  return (
    <div className="page">
      <div className="page-head">
        <h1>{texts.groups}</h1>
        {groups.data && groups.data.length > 0 && button}
      </div>
      {groups.isPending && <Waiting />}
      {groups.isError && <LoadError error={groups.error} onRetry={() => void groups.refetch()} />}
      {groups.data?.length === 0 && (
        <Empty icon={Users} title={texts.inNoGroup} hint={texts.inNoGroupHint}>
          {button}
        </Empty>
      )}
      <ul className="sharing-groups">
        {groups.data?.map(({ id, name, owner, admins }) => (
          <li key={id}>
            <Link to={`/groups/${id}`} className="sharing-group">
              <span className="sharing-sign">
                <Users size={18} aria-hidden />
              </span>
              <span className="sharing-names">
                <bdi title={name}>{name}</bdi>
                {account && (
                  <span className="muted">
                    {owner === account.email
                      ? texts.youOwn
                      : admins.includes(account.email)
                        ? texts.youManage
                        : texts.youBelong}
                  </span>
                )}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {making && <NewGroup onClose={() => setMaking(false)} />}
    </div>
  )
}

function NewGroup(props: { onClose: () => void }) {
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const [, go] = useLocation()
  const [name, setName] = useState('')
  const refresh = useAction('groups')
  async function make(): Promise<void> {
    const group = await makeGroup(name.trim())
    void refresh(async () => go(`/groups/${group.id}`))
  }
  return (
    <FormDialog
      title={texts.newGroup}
      submit={common.create}
      disabled={name.trim() === ''}
      onSubmit={make}
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
