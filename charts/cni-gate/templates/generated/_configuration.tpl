{{- define "cni-gate.configuration" -}}
# Generated from manifests/ by `npm run generate`. Do not edit.
apiVersion: cni-gate.io/v1alpha1
kind: Configuration
proof:
{{- if eq .Values.mode "permissive" }}
  mode: warn
gate:
  mode: audit
{{- else }}
  mode: enforce
{{- end }}
repair:
{{- if eq .Values.mode "permissive" }}
  mode: audit
{{- else }}
  mode: recreate
{{- end }}
{{- end }}
