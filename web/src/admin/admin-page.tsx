export default function AdminPage() {
  return <div className="page" />
}
