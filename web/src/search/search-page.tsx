export default function SearchPage() {
  return <div className="page" />
}
