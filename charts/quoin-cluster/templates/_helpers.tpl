{{- define "quoin-cluster.name" -}}
{{ .Values.name | default .Release.Name }}
{{- end }}

{{/* Not those by which the operator finds what belongs to a cluster: these objects are the release's. */}}
{{- define "quoin-cluster.labels" -}}
app.kubernetes.io/name: quoin-cluster
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: quoin
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* The same with labels of the user's, who cannot replace ours: of a list of what the chart knows, and those labels. */}}
{{- define "quoin-cluster.labelsWith" -}}
{{- $ours := include "quoin-cluster.labels" (first .) | fromYaml -}}
{{ mergeOverwrite (deepCopy (last .)) $ours | toYaml }}
{{- end }}

{{/* What `helm test` runs: an image that has quoinctl. */}}
{{- define "quoin-cluster.testImage" -}}
{{- $image := .Values.cluster.image | default dict -}}
{{- $repository := $image.repository | default "quoin" -}}
{{- if .Values.test.image -}}
{{ .Values.test.image }}
{{- else if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else -}}
{{ $repository }}:{{ $image.tag | default .Values.cluster.version | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- define "quoin-cluster.encrypted" -}}
{{- $tls := .Values.cluster.tls | default dict -}}
{{- if ne ($tls.mode | default "Auto") "Off" }}yes{{ end }}
{{- end }}

{{/* By name: all ready members, and the leader alone, if there is a Service for it. */}}
{{- define "quoin-cluster.services" -}}
{{- $name := include "quoin-cluster.name" . -}}
{{- $leader := ((.Values.cluster.services | default dict).leader | default dict) -}}
{{ $name }}{{ if ne (toString $leader.enabled) "false" }} {{ $name }}-leader{{ end }}
{{- end }}
