"""The questions put to GitHub's GraphQL. Each is checked against the published schema in tests/contract.

Points are counted by connections, not by `first` (one for each hundred connections opened), so inner lists take all
they may: a page of 50 pull requests opens 50 × (5 + 20) and costs 13 points. Files are left out: they come with their
patches by REST.
"""

REVIEWS = 20  # of a pull request in a page; the rest is asked for where there is more
INLINE = 30  # of a review

LIMIT = "rateLimit { cost limit remaining resetAt }"

PERSON = """
fragment person on Actor { __typename login }
"""

LABELS = "totalCount pageInfo { hasNextPage endCursor } nodes { name color description }"
COMMITS = """totalCount pageInfo { hasNextPage endCursor } nodes { commit {
  oid message authoredDate committedDate author { name user { login } } } }"""
COMMENTS = (
    "totalCount pageInfo { hasNextPage endCursor } nodes { fullDatabaseId author { ...person } createdAt body url }"
)
REVIEW_LIST = f"""totalCount pageInfo {{ hasNextPage endCursor }} nodes {{
  fullDatabaseId author {{ ...person }} createdAt submittedAt body state url
  comments(first: {INLINE}) {{ totalCount nodes {{
    fullDatabaseId author {{ ...person }} createdAt body path line originalLine url }} }} }}"""
LINKS = """totalCount pageInfo { hasNextPage endCursor } nodes {
  number title state url repository { databaseId nameWithOwner } }"""

THREAD = f"""
  __typename id fullDatabaseId number url title body createdAt updatedAt closedAt
  author {{ ...person }}
  repository {{ databaseId nameWithOwner }}
  labels(first: 100) {{ {LABELS} }}
  comments(first: 100) {{ {COMMENTS} }}
"""

PULL_REQUEST = f"""
fragment pull on PullRequest {{ {THREAD}
  state mergedAt mergedBy {{ ...person }}
  baseRefName baseRefOid headRefName headRefOid headRepository {{ nameWithOwner }} mergeCommit {{ oid }}
  additions deletions changedFiles totalCommentsCount
  commits(first: 100) {{ {COMMITS} }}
  reviews(first: {REVIEWS}) {{ {REVIEW_LIST} }}
  closingIssuesReferences(first: 50) {{ {LINKS} }}
}}
"""

ISSUE = f"""
fragment issue on Issue {{ {THREAD}
  issueState: state stateReason
  closedByPullRequestsReferences(first: 50, includeClosedPrs: true) {{ {LINKS} }}
}}
"""

FRAGMENTS = PERSON + PULL_REQUEST + ISSUE

_SEARCH = "search(query: $query, type: ISSUE, first: $first, after: $after)"
_PAGE = "issueCount pageInfo { hasNextPage endCursor }"

HITS = {
    "pull_request": f"""query Hits($query: String!, $first: Int!, $after: String) {{ {LIMIT}
  {_SEARCH} {{ {_PAGE} nodes {{ ...pull }} }} }} {PERSON} {PULL_REQUEST}""",
    "issue": f"""query Hits($query: String!, $first: Int!, $after: String) {{ {LIMIT}
  {_SEARCH} {{ {_PAGE} nodes {{ ...issue }} }} }} {PERSON} {ISSUE}""",
}

GLANCES = f"""query Glances($query: String!, $first: Int!, $after: String) {{ {LIMIT}
  {_SEARCH} {{ {_PAGE} nodes {{
    ... on PullRequest {{ fullDatabaseId number updatedAt }} ... on Issue {{ fullDatabaseId number updatedAt }} }} }} }}"""

COUNT = f"""query Count($query: String!) {{ {LIMIT} search(query: $query, type: ISSUE, first: 1) {{ issueCount }} }}"""

# The lists of a pull request or issue, by GitHub's name, and what is asked of each entry.
LISTS = {
    "labels": LABELS,
    "comments": COMMENTS,
    "commits": COMMITS,
    "reviews": REVIEW_LIST,
    "closingIssuesReferences": LINKS,
    "closedByPullRequestsReferences": LINKS,
}


def by_number(numbers: list[int]) -> str:
    """Several things of one repository in one question, each under n<number>."""
    asked = "\n".join(f"n{number}: issueOrPullRequest(number: {number}) {{ ...pull ...issue }}" for number in numbers)
    return f"""query ByNumber($owner: String!, $name: String!) {{ {LIMIT}
  repository(owner: $owner, name: $name) {{ databaseId nameWithOwner {asked} }} }} {FRAGMENTS}"""


def rest_of(name: str, typename: str) -> str:
    """The next page of one list of one pull request or issue."""
    fields = LISTS[name]
    field = "pullRequest" if typename == "PullRequest" else "issue"
    person = PERSON if "...person" in fields else ""
    size = REVIEWS if name == "reviews" else 100
    return f"""query Rest($owner: String!, $name: String!, $number: Int!, $after: String) {{ {LIMIT}
  repository(owner: $owner, name: $name) {{ thing: {field}(number: $number) {{
    {name}(first: {size}, after: $after) {{ {fields} }} }} }} }} {person}"""
